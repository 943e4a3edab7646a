/** Compares and hashes the passwords of members, and limits guesses and hashes by address, network and member. */
import { createHmac } from 'node:crypto';
import type { Context } from 'hono';
import { hashToken } from '../../ingest/token.ts';
import { Refusal } from '../../shared/refusal.ts';
import { unknownMember } from '../../store/rules/accounts/members.ts';
import type { Invitation, SigningIn, Store } from '../../store/store.ts';
import { type AddressOf, networkOf } from '../access/client-address.ts';
import { type Costs, createRateLimit, giveBackAll, takeAll } from '../access/rate-limits.ts';
import { type Fields, requiredText } from './form-fields.ts';
import { checkLength, checkPassword, type Passwords } from './passwords.ts';

/**
 * The rates of sign-ins with a password, which cost a hash each, and of passwords that are chosen. They count for an address (/64) or, if a
 * member is known at it, for the address and the e-mail address: others at the address then can't use up the limit.
 */
const rates = {
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
  readonly store: Pick<Store, 'findMembers' | 'listMembers' | 'noteKnownNetwork' | 'getChallengeKey'>;
  readonly addressOf: AddressOf;
  /** The hash of the /48 of the address. */
  readonly prefixOf: AddressOf;
  /** The address itself. */
  readonly requestAddress: (c: Context) => string;
  readonly passwords: Passwords;
  readonly now: () => number;
}

/** A sign-in with a password. */
interface Attempt {
  readonly c: Context;
  readonly emailKey: string;
  /** The members with the e-mail address who are known at the address. */
  readonly known: readonly SigningIn[];
  /** Those with whose passwords the given one is compared. */
  readonly compared: readonly SigningIn[];
}

export const createMemberPasswords = ({ store, addressOf, prefixOf, requestAddress, passwords, now }: Surroundings) => {
  const limits = {
    all: createRateLimit(rates.all),
    failed: createRateLimit(rates.failed),
    allOfPrefix: createRateLimit(rates.allOfPrefix),
    failedOfEmailaddress: createRateLimit(rates.failedOfEmailaddress),
    changes: createRateLimit(rates.changes),
  };

  const keyedHash = async (text: string): Promise<Buffer> =>
    createHmac('sha256', await store.getChallengeKey())
      .update(text)
      .digest();

  /**
   * The salt of all hashes of an e-mail address: so a password is derived once, whether nobody has the address or the members of several
   * accounts do. It cannot be known without the key of the database.
   */
  const saltOf = async (emailaddress: string): Promise<Uint8Array> =>
    (await keyedHash(`salt of passwords\n${emailaddress}`)).subarray(0, saltBytes);

  /** The keyed hash of a network that the store knows members by. Those of two e-mail addresses have nothing in common. */
  const hashedNetwork = async (c: Context, emailaddress: string): Promise<string> =>
    (await keyedHash(`network of a member\n${emailaddress}\n${networkOf(requestAddress(c))}`)).toString('base64url');

  /** Whether many sign-ins with an e-mail address have failed lately. */
  const isLocked = (emailKey: string): boolean => {
    try {
      limits.failedOfEmailaddress.ask(emailKey);
      return false;
    } catch {
      return true;
    }
  };

  /** The costs of a sign-in, and the additional costs if it fails. */
  const costsOf = ({ c, emailKey, known, compared }: Attempt): { always: Costs; onFailure: Costs } => {
    const { all, allOfPrefix, failed, failedOfEmailaddress } = limits;
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

  /** The members with an e-mail address, and whether each is known at the address of the request. */
  const findMembers = async (c: Context, emailaddress: string, accountUUID?: string): Promise<readonly SigningIn[]> => {
    const network = await hashedNetwork(c, emailaddress);
    return store.findMembers({ emailaddress, accountUUID, network, time: now() });
  };

  /** Notes that members have signed in from the address of the request. */
  const noteNetwork = async (c: Context, emailaddress: string, memberIDs: readonly string[]): Promise<void> => {
    const network = await hashedNetwork(c, emailaddress);
    await store.noteKnownNetwork({ memberIDs, network, time: now() });
  };

  /**
   * Returns the members whose password this is. No match counts as a failed sign-in. While the e-mail address is
   * locked, the password is compared only with those of members who are known at the address: an owner of another account may be known
   * with the same e-mail address.
   */
  const findPasswordMatches = async (
    c: Context,
    password: string,
    emailaddress: string,
    members: readonly SigningIn[],
  ) => {
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

  /** Counts the hash of a new password against the limit of sign-ins. */
  const countHash = (key: string): void => limits.all.take(key);

  /** Checks and hashes a new password. Both are expensive: call `countHash` first. */
  const hash = async (
    c: Context,
    password: string,
    { account, emailaddress, memberName }: Pick<Invitation, 'account' | 'emailaddress' | 'memberName'>,
  ): Promise<string> => {
    await checkPassword(password, { emailaddress, memberName });
    const waiter = { address: addressOf(c), prefix: prefixOf(c), account };
    return passwords.hash(password, await saltOf(emailaddress), waiter);
  };

  /** The hash of a member's new password. A wrong current password, where the member has one, counts as a failed sign-in. */
  const hashNewPassword = async (
    given: Fields,
    c: Context,
    { account, memberID }: { readonly account: number; readonly memberID: string },
  ): Promise<string> => {
    const password = requiredText(given, 'password');
    const member = (await store.listMembers({ account })).find((each) => each.memberID === memberID);
    if (!member) throw unknownMember();
    const { emailaddress } = member;
    if (member.hasPassword) {
      const field = 'currentPassword';
      const current = requiredText(given, field);
      checkLength(current, field);
      const members = await findMembers(c, emailaddress);
      // The session proves who this is, so that nobody who fails to sign in with the e-mail address can prevent the change.
      const own = members.flatMap((each) => (each.memberID === memberID ? { ...each, isKnown: true } : []));
      const { matches } = await findPasswordMatches(c, current, emailaddress, own);
      if (matches.length === 0) throw new Refusal('invalid_token', { field, message: 'the current password is wrong' });
    }
    countHash(`member ${memberID}`);
    const newHash = await hash(c, password, { ...member, account });
    limits.changes.take(memberID);
    return newHash;
  };

  return { findMembers, noteNetwork, findPasswordMatches, countHash, hash, hashNewPassword };
};
export type MemberPasswords = ReturnType<typeof createMemberPasswords>;
