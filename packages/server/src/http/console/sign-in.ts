/** Who signs in to the console: by a token, by the code of a one-time link, by a password, by a passkey, or with an invitation. */
import { createHmac } from 'node:crypto';
import { memberNameField, roleOf } from '@firsthand/contract/account/members';
import type { TokenKind } from '@firsthand/contract/account/tokens';
import { check } from '@firsthand/contract/checking';
import type { Context } from 'hono';
import { nanoid } from 'nanoid';
import { parseAddress } from '../../identity/address.ts';
import { createTokenText, hashToken } from '../../ingest/token.ts';
import { Refusal } from '../../shared/refusal.ts';
import { noInvitation, unknownMember } from '../../store/rules/accounts/members.ts';
import type { Access, Invitation, SigningIn, Store } from '../../store/store.ts';
import { type AddressOf, bindingsOf, networkOf } from '../access/client-address.ts';
import { isLocalVisitor } from '../access/loopback.ts';
import { type Costs, giveBackAll, type RateLimit, takeAll } from '../access/rate-limits.ts';
import { mostInCookie, sessionPrefix } from './cookie.ts';
import type { Passkeys } from './passkeys/passkeys.ts';
import { checkLength, checkPassword, type Passwords } from './passwords.ts';
import type { SignInCodes } from './sign-in-codes.ts';

/** The source of a session: a token, that of a member included, or a code, for which `token` and `tokenID` are null. */
export interface Owner {
  readonly kind: TokenKind;
  readonly account: number;
  readonly token: number | null;
  readonly tokenID: string | null;
  /** The hash of the password that signed in. */
  readonly password?: string;
}

/**
 * The rates of sign-ins with a password, which cost a hash each, and of passwords that are chosen. They count for an address (/64) or, if a
 * member is known at it, for the address and the e-mail address: others at the address then can't use up the limit.
 */
export const passwordRates = {
  all: { perSecond: 0.1, burst: 30 },
  failed: { perSecond: 1 / 60, burst: 10 },
  // Only where no member is known at the address: all sign-ins of a /48, and failed ones with an e-mail address.
  allOfPrefix: { perSecond: 0.5, burst: 60 },
  failedOfEmailaddress: { perSecond: 50 / 3_600, burst: 50 },
  // Changes by a member: the audit log keeps each for good.
  changes: { perSecond: 20 / 86_400, burst: 20 },
};

const saltBytes = 16;

interface Surroundings {
  readonly store: Pick<
    Store,
    'findMembers' | 'listMembers' | 'noteKnownNetwork' | 'findInvitation' | 'joinMember' | 'getChallengeKey'
  >;
  readonly authenticate: (token: string, c: Context) => Promise<Access>;
  readonly addressOf: AddressOf;
  /** The hash of the /48 of the address. */
  readonly prefixOf: AddressOf;
  /** The address itself. */
  readonly requestAddress: (c: Context) => string;
  readonly codes: SignInCodes;
  /** The origin at which links with a code sign in, besides this machine. */
  readonly consoleOrigin: string | undefined;
  readonly passwords: Passwords;
  readonly passkeys: Passkeys;
  readonly passwordLimits: {
    readonly [Of in keyof typeof passwordRates]: RateLimit;
  };
  /** Counts guesses at codes of invitations, by address. */
  readonly unknownCodes: Pick<RateLimit, 'take'>;
  readonly now: () => number;
}

type Fields = Readonly<Record<string, unknown>>;

/** A sign-in with a password. */
interface Attempt {
  readonly c: Context;
  readonly emailKey: string;
  /** The members with the e-mail address who are known at the address. */
  readonly known: readonly SigningIn[];
  /** Those with whose passwords the given one is compared. */
  readonly compared: readonly SigningIn[];
}

/** The text of a field; undefined where it is absent or empty. */
const textIn = (given: Fields, name: string): string | undefined => {
  const value = given[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw new Refusal('invalid_field', { field: name, message: `\`${name}\` must be text` });
};

const neededText = (given: Fields, name: string): string => {
  const text = textIn(given, name);
  if (text === undefined) throw new Refusal('missing_field', { field: name });
  return text;
};

export const createSignIn = ({
  store,
  authenticate,
  addressOf,
  prefixOf,
  requestAddress,
  codes,
  consoleOrigin,
  passwords,
  passkeys,
  passwordLimits,
  unknownCodes,
  now,
}: Surroundings) => {
  const ofToken = async (text: string, c: Context): Promise<Owner> => {
    const { kind, account, token, tokenID } = await authenticate(text, c);
    if (account === null || kind === 'browser' || kind === 'operator' || text.startsWith(sessionPrefix)) {
      const message = `the console takes a server, editor or viewer token; this one is a ${kind} token`;
      throw new Refusal('token_kind', { field: 'tokenUUID', message });
    }
    return { kind, account, token, tokenID };
  };

  const ofCode = (code: string, c: Context): Owner => {
    const { incoming } = bindingsOf(c);
    const { headers } = c.req.raw;
    const isLocal = isLocalVisitor({ remoteAddress: incoming?.socket?.remoteAddress, headers });
    // A browser does not let a page set Origin.
    const isAtConsole = consoleOrigin !== undefined && headers.get('origin') === consoleOrigin;
    const account = isLocal || isAtConsole ? codes.take(code) : undefined;
    if (account !== undefined) return { kind: 'server', account, token: null, tokenID: null };
    const message =
      'the link does not sign in: it works once, within ten minutes of the start of the server, on the same machine or at CONSOLE_ORIGIN. `firsthand login-link` prints another link; or sign in with a token';
    throw new Refusal('invalid_token', { field: 'code', message });
  };

  const keyedHash = async (text: string): Promise<Buffer> =>
    createHmac('sha256', await store.getChallengeKey())
      .update(text)
      .digest();

  /**
   * The salt of all hashes of an e-mail address: so a password is derived once, whether nobody has the address or the members of several
   * accounts do. Nobody knows it without the key of the database.
   */
  const saltOf = async (emailaddress: string): Promise<Uint8Array> =>
    (await keyedHash(`salt of passwords\n${emailaddress}`)).subarray(0, saltBytes);

  /** The keyed hash of a network that the store knows members by. Those of two e-mail addresses have nothing in common. */
  const hashedNetwork = async (c: Context, emailaddress: string): Promise<string> =>
    (await keyedHash(`network of a member\n${emailaddress}\n${networkOf(requestAddress(c))}`)).toString('base64url');

  /** Whether many sign-ins with an e-mail address have failed lately. */
  const isLocked = (emailKey: string): boolean => {
    try {
      passwordLimits.failedOfEmailaddress.ask(emailKey);
      return false;
    } catch {
      return true;
    }
  };

  /** What a sign-in costs, and what one that fails costs besides. */
  const costsOf = ({ c, emailKey, known, compared }: Attempt): { always: Costs; onFailure: Costs } => {
    const { all, allOfPrefix, failed, failedOfEmailaddress } = passwordLimits;
    const key = known.length > 0 ? `${addressOf(c)} ${emailKey}` : addressOf(c);
    const always: Costs = [[all, key]];
    const onFailure: Costs = [[failed, key]];
    return {
      always: known.length > 0 ? always : [...always, [allOfPrefix, prefixOf(c)]],
      onFailure:
        known.length > 0 && known.length === compared.length
          ? onFailure
          : [...onFailure, [failedOfEmailaddress, emailKey]],
    };
  };

  const notTogether = 'the e-mail address and the password do not belong together';
  const notTogetherOrLocked = `${notTogether}, or you have not signed in from here lately: many sign-ins with this e-mail address have failed, so try again in an hour or use a passkey`;

  /**
   * Returns the members whose password this is. No match counts as a failed sign-in. While the e-mail address is
   * locked, the password is compared only with those of members who are known at the address: an owner of another account may be known
   * with the same e-mail address.
   */
  const compare = async (password: string, emailaddress: string, members: readonly SigningIn[], c: Context) => {
    const salt = await saltOf(emailaddress);
    const emailKey = hashToken(emailaddress);
    const known = members.filter(({ isKnown }) => isKnown);
    const onlyKnown = known.length > 0 && isLocked(emailKey);
    const compared = onlyKnown ? known : members;
    const costs = costsOf({ c, emailKey, known, compared });
    takeAll([...costs.always, ...costs.onFailure]);
    const hashes = compared.map((member) => member.password);
    const waiter = { address: addressOf(c), prefix: prefixOf(c), account: known[0]?.account };
    const right = await passwords.matching(password, hashes, salt, waiter).catch((error) => {
      // Nothing was compared.
      giveBackAll([...costs.always, ...costs.onFailure]);
      throw error;
    });
    const matches = compared.filter((member) => right.has(member.password));
    if (matches.length > 0) giveBackAll(costs.onFailure);
    return { matches, onlyKnown };
  };

  /** The members with this e-mail address and password. Does not say whether the one or the other is wrong. */
  const ofPassword = async (given: Fields, c: Context): Promise<readonly Owner[]> => {
    const password = neededText(given, 'password');
    checkLength(password);
    const emailaddress = parseAddress(neededText(given, 'emailaddress'));
    const accountUUID = textIn(given, 'accountUUID');
    const network = await hashedNetwork(c, emailaddress ?? '');
    const members =
      emailaddress === undefined ? [] : await store.findMembers({ emailaddress, accountUUID, network, time: now() });
    const { matches, onlyKnown } = await compare(password, emailaddress ?? '', members, c);
    if (matches.length === 0) {
      const message = onlyKnown ? notTogetherOrLocked : notTogether;
      throw new Refusal('invalid_token', { field: 'password', message });
    }
    await store.noteKnownNetwork({ memberIDs: matches.map(({ memberID }) => memberID), network, time: now() });
    // A browser has no room for more sessions.
    return matches
      .slice(0, mostInCookie)
      .map(({ kind, account, token, tokenID, password: hash }) => ({ kind, account, token, tokenID, password: hash }));
  };

  const findInvitation = async (given: Fields, c: Context) => {
    const invitationHash = hashToken(neededText(given, 'code'));
    const found = await store.findInvitation({ hash: invitationHash, time: now() });
    if (found !== undefined) return { found, hash: invitationHash };
    // After the look-up, so that somebody who guesses from the same address holds up nobody with an invitation.
    unknownCodes.take(addressOf(c));
    throw noInvitation();
  };

  /** The purpose of the challenge for joining with a passkey. */
  const purposeOf = (invitationHash: string) => `join ${invitationHash}`;

  /** Checking and hashing are expensive: take from a rate limit first. */
  const checkAndHash = async (
    password: string,
    { account, emailaddress, memberName }: Pick<Invitation, 'account' | 'emailaddress' | 'memberName'>,
    c: Context,
  ): Promise<string> => {
    await checkPassword(password, { emailaddress, memberName });
    const waiter = { address: addressOf(c), prefix: prefixOf(c), account };
    return passwords.hash(password, await saltOf(emailaddress), waiter);
  };

  /** The way in which a member who joins will sign in: the passkey, or the hash of the password. */
  const newProof = async (given: Fields, c: Context, { hash, found }: Awaited<ReturnType<typeof findInvitation>>) => {
    if (given.passkey !== undefined) {
      const { passkey } = await passkeys.read(c, purposeOf(hash), given);
      return { password: null, passkey };
    }
    const password = neededText(given, 'password');
    passwordLimits.all.take(addressOf(c));
    return { password: await checkAndHash(password, { ...found, memberName: textIn(given, 'memberName') ?? '' }, c) };
  };

  return {
    /** The owners of the sessions that a sign-in begins: more than one where a password is that of members of several accounts. */
    async find(given: Fields, c: Context): Promise<readonly Owner[]> {
      const [tokenUUID, code] = [textIn(given, 'tokenUUID'), textIn(given, 'code')];
      if (tokenUUID !== undefined) return [await ofToken(tokenUUID, c)];
      if (code !== undefined) return [ofCode(code, c)];
      if (given.passkey !== undefined) return [await passkeys.signIn(given.passkey, c)];
      if (textIn(given, 'emailaddress') !== undefined) return ofPassword(given, c);
      throw new Refusal('missing_field', { field: 'tokenUUID' });
    },

    /** The hash of a member's new password. A wrong current password, where the member has one, counts as a failed sign-in. */
    async hashNewPassword(
      given: Fields,
      c: Context,
      { account, memberID }: { readonly account: number; readonly memberID: string },
    ): Promise<string> {
      const password = neededText(given, 'password');
      const member = (await store.listMembers({ account })).find((each) => each.memberID === memberID);
      if (!member) throw unknownMember();
      const { emailaddress } = member;
      if (member.hasPassword) {
        const field = 'currentPassword';
        const current = neededText(given, field);
        checkLength(current, field);
        const network = await hashedNetwork(c, emailaddress);
        const members = await store.findMembers({ emailaddress, network, time: now() });
        // The session proves who this is, so that nobody who fails to sign in with the e-mail address can prevent the change.
        const own = members.flatMap((each) => (each.memberID === memberID ? { ...each, isKnown: true } : []));
        const { matches } = await compare(current, emailaddress, own, c);
        if (matches.length === 0)
          throw new Refusal('invalid_token', { field, message: 'the current password is wrong' });
      }
      passwordLimits.all.take(`member ${memberID}`);
      const hash = await checkAndHash(password, { ...member, account }, c);
      passwordLimits.changes.take(memberID);
      return hash;
    },

    /** Says whom an invitation is for. */
    async invitation(given: Fields, c: Context) {
      const { accountName, emailaddress, memberName, kind } = (await findInvitation(given, c)).found;
      return { accountName, memberEmailaddress: emailaddress, memberName, memberRole: roleOf(kind) };
    },

    /** The options of a passkey to join with, and the cookie that belongs to them. */
    async optionsToJoin(given: Fields, c: Context) {
      const { found, hash } = await findInvitation(given, c);
      return passkeys.optionsToCreate(c, purposeOf(hash), found);
    },

    /** Takes an invitation: the member gets a name and a password or a passkey, and signs in. */
    async join(given: Fields, c: Context): Promise<Owner> {
      const password = given.passkey === undefined ? neededText(given, 'password') : textIn(given, 'password');
      if (given.passkey !== undefined && password !== undefined) {
        const message = '`password` must be absent where there is a `passkey`: a member joins with one of them';
        throw new Refusal('invalid_field', { field: 'password', message });
      }
      const memberName = neededText({ memberName: textIn(given, 'memberName')?.trim() }, 'memberName');
      const checked = check(memberNameField, memberName, 'memberName');
      if (!checked.ok) throw new Refusal(checked.problem.code, checked.problem);
      const invitation = await findInvitation(given, c);
      const { found, hash } = invitation;
      const joining = { hash, memberName, ...(await newProof(given, c, invitation)), time: now() };
      // Nobody gets to know the text of this token.
      const access = { tokenID: nanoid(), hash: hashToken(createTokenText(found.kind)) };
      const { account, memberID, access: owner } = await store.joinMember({ ...joining, access });
      const network = await hashedNetwork(c, found.emailaddress);
      await store.noteKnownNetwork({ memberIDs: [memberID], network, time: now() });
      return { account, ...owner };
    },
  };
};
export type SignIn = ReturnType<typeof createSignIn>;
