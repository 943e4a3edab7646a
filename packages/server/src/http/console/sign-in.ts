/** Who signs in to the console: by a token, by the code of a one-time link, by a password, by a passkey, or with an invitation. */
import { createHmac } from 'node:crypto';
import { memberNameField, roleOf } from '@firsthand/contract/account/members';
import type { TokenKind } from '@firsthand/contract/account/tokens';
import { check } from '@firsthand/contract/checking';
import type { Context } from 'hono';
import { nanoid } from 'nanoid';
import { BoundedMap } from '../../bounded-map.ts';
import { parseAddress } from '../../identity/address.ts';
import { createTokenText, hashToken } from '../../ingest/token.ts';
import { Refusal } from '../../refusal.ts';
import { noInvitation } from '../../store/rules/accounts/members.ts';
import type { Access, Store } from '../../store/store.ts';
import { type AddressOf, bindingsOf } from '../access/client-address.ts';
import { isLocalVisitor } from '../access/loopback.ts';
import type { RateLimit } from '../access/rate-limits.ts';
import { mostInCookie, sessionPrefix } from './cookie.ts';
import type { Passkeys } from './passkeys/passkeys.ts';
import { checkPassword, type Passwords } from './passwords.ts';
import type { SignInCodes } from './sign-in-codes.ts';

/** The source of a session: a token, that of a member included, or a code, for which `token` and `tokenID` are null. */
export interface Owner {
  readonly kind: TokenKind;
  readonly account: number;
  readonly token: number | null;
  readonly tokenID: string | null;
}

/**
 * The rates of sign-ins with a password. Those that fail count for an e-mail address too, unless the same address has signed in with it
 * before: so that others can't lock somebody out of where they usually are. All count for an address, because each costs a hash, and so do
 * passwords that are chosen.
 */
export const passwordRates = {
  all: { perSecond: 0.1, burst: 30 },
  failed: { perSecond: 1 / 60, burst: 10 },
  failedOfEmailaddress: { perSecond: 50 / 3_600, burst: 50 },
};

/** The most accounts that a password is tried for: as many as a browser has sessions of. */
const mostAccounts = mostInCookie;
const saltBytes = 16;
/** The pairs of an address and an e-mail address that are known. */
const mostKnown = 10_000;

interface Surroundings {
  readonly store: Pick<Store, 'findMembers' | 'findInvitation' | 'joinMember' | 'getChallengeKey'>;
  readonly authenticate: (token: string, c: Context) => Promise<Access>;
  readonly addressOf: AddressOf;
  readonly codes: SignInCodes;
  readonly passwords: Passwords;
  readonly passkeys: Passkeys;
  readonly passwordLimits: {
    readonly [Of in keyof typeof passwordRates]: Pick<RateLimit, 'ask' | 'take' | 'giveBack'>;
  };
  /** Counts guesses at codes of invitations, by address. */
  readonly unknownCodes: Pick<RateLimit, 'take'>;
  readonly now: () => number;
}

type Fields = Readonly<Record<string, unknown>>;

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
  codes,
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
    const account = isLocal ? codes.take(code) : undefined;
    if (account !== undefined) return { kind: 'server', account, token: null, tokenID: null };
    const message =
      'the link does not sign in: it works once, within ten minutes of the start of the server, and on the same machine. Start the server again for another one, or sign in with a token';
    throw new Refusal('invalid_token', { field: 'code', message });
  };

  const known = new BoundedMap<string, true>(mostKnown);

  /**
   * The salt of all hashes of an e-mail address: so a password is derived once, whether nobody has the address or the members of several
   * accounts do. Nobody knows it without the key of the database.
   */
  const saltOf = async (emailaddress: string): Promise<Uint8Array> =>
    createHmac('sha256', await store.getChallengeKey())
      .update(`salt of passwords\n${emailaddress}`)
      .digest()
      .subarray(0, saltBytes);

  /** The members with this e-mail address and password. Does not say whether the one or the other is wrong. */
  const ofPassword = async (given: Fields, c: Context): Promise<readonly Owner[]> => {
    const password = neededText(given, 'password');
    const emailaddress = parseAddress(neededText(given, 'emailaddress'));
    const address = addressOf(c);
    const hashed = hashToken(emailaddress ?? '');
    const pair = `${address} ${hashed}`;
    const isKnown = known.has(pair);
    // Asked before any of them counts: a limit that others have used up takes nothing from this address.
    if (!isKnown) passwordLimits.failedOfEmailaddress.ask(hashed);
    passwordLimits.failed.ask(address);
    passwordLimits.all.take(address);
    passwordLimits.failed.take(address);
    if (!isKnown) passwordLimits.failedOfEmailaddress.take(hashed);
    let hasFailed = false;
    try {
      const accountUUID = textIn(given, 'accountUUID');
      const members =
        emailaddress === undefined ? [] : await store.findMembers({ emailaddress, accountUUID, most: mostAccounts });
      const salt = await saltOf(emailaddress ?? '');
      const right = await passwords.matching(
        password,
        members.map((member) => member.password),
        salt,
        address,
      );
      const owners = members.filter((member) => right.has(member.password)).map(({ password: _, ...owner }) => owner);
      hasFailed = owners.length === 0;
      if (!hasFailed) {
        known.set(pair, true);
        return owners;
      }
    } finally {
      // What the queue of hashes refused was no wrong password.
      if (!hasFailed) {
        passwordLimits.failed.giveBack(address);
        if (!isKnown) passwordLimits.failedOfEmailaddress.giveBack(hashed);
      }
    }
    const message = 'the e-mail address and the password do not belong together';
    throw new Refusal('invalid_token', { field: 'password', message });
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

  /** The way in which a member who joins will sign in: the passkey, or the hash of the password. */
  const newProof = async (given: Fields, c: Context, { hash, found }: Awaited<ReturnType<typeof findInvitation>>) => {
    if (given.passkey !== undefined) {
      const { passkey } = await passkeys.read(c, purposeOf(hash), given);
      return { password: null, passkey };
    }
    const password = neededText(given, 'password');
    // To judge a password takes the processor, and so does its hash.
    passwordLimits.all.take(addressOf(c));
    await checkPassword(password, {
      emailaddress: found.emailaddress,
      memberName: textIn(given, 'memberName') ?? '',
    });
    return { password: await passwords.hash(password, await saltOf(found.emailaddress), addressOf(c)) };
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
      const joined = await store.joinMember({ ...joining, access });
      return { account: joined.account, ...joined.access };
    },
  };
};
export type SignIn = ReturnType<typeof createSignIn>;
