/** Verifies and hashes members' passwords, and limits guesses and hashes by address, network and member. */
import { createHmac } from 'node:crypto';
import type { Context } from 'hono';
import { hashToken } from '../../ingest/token.ts';
import { Refusal } from '../../shared/refusal.ts';
import { unknownMember } from '../../store/rules/accounts/members.ts';
import type { Invitation, MemberCredentials, Store } from '../../store/store.ts';
import { type AddressOf, networkOf } from '../access/client-address.ts';
import { type Costs, createRateLimit, refundAll, takeAll } from '../access/rate-limits.ts';
import { type Fields, requiredText } from './form-fields.ts';
import { checkLength, checkPassword, type Passwords } from './passwords.ts';

/**
 * The rates of password sign-ins, each of which costs a hash, and of password changes. The key is the network address
 * (IPv6: /64). For a member known at that address, the key also includes the e-mail address, so that other people at
 * the same address can't use up the limit.
 */
const rates = {
  all: { perSecond: 0.1, burst: 30 },
  failed: { perSecond: 1 / 60, burst: 10 },
  // These two apply only if no member is known at the address: all sign-ins from a /48, and failed sign-ins with an
  // e-mail address.
  allOfPrefix: { perSecond: 0.5, burst: 60 },
  failedOfEmailaddress: { perSecond: 50 / 3_600, burst: 50 },
  // Changes by a member: the audit log stores each change permanently.
  changes: { perSecond: 20 / 86_400, burst: 20 },
};

const saltBytes = 16;

interface Dependencies {
  readonly store: Pick<Store, 'findMembers' | 'listMembers' | 'recordKnownNetwork' | 'getDatabaseKey'>;
  readonly addressOf: AddressOf;
  /** Returns the hash of the client's /48 network. */
  readonly prefixOf: AddressOf;
  /** Returns the client's address, unhashed. */
  readonly requestAddress: (c: Context) => string;
  readonly passwords: Passwords;
  readonly now: () => number;
}

/** A sign-in with a password. */
interface Attempt {
  readonly c: Context;
  readonly emailKey: string;
  /** The members with the e-mail address who have signed in from this network. */
  readonly known: readonly MemberCredentials[];
  /** The members whose passwords are compared with the password that was sent. */
  readonly compared: readonly MemberCredentials[];
}

/** Limits sign-ins and password changes. */
const createSignInLimits = ({ addressOf, prefixOf }: Pick<Dependencies, 'addressOf' | 'prefixOf'>) => {
  const limits = {
    all: createRateLimit(rates.all),
    failed: createRateLimit(rates.failed),
    allOfPrefix: createRateLimit(rates.allOfPrefix),
    failedOfEmailaddress: createRateLimit(rates.failedOfEmailaddress),
    changes: createRateLimit(rates.changes),
  };

  /** Whether too many sign-ins with an e-mail address have failed recently. */
  const isLocked = (emailKey: string): boolean => {
    try {
      limits.failedOfEmailaddress.check(emailKey);
      return false;
    } catch {
      return true;
    }
  };

  /** Returns the costs of a sign-in, and the additional costs if it fails. */
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

  return {
    isLocked,
    costsOf,
    /** Charges the hash of a new password like a sign-in. */
    countHash: (key: string): void => limits.all.take(key),
    countChange: (memberID: string): void => limits.changes.take(memberID),
  };
};

/** Hashes with the database's key. Without the key, these hashes can't be computed. */
const createHashes = ({ store, requestAddress }: Pick<Dependencies, 'store' | 'requestAddress'>) => {
  const keyedHash = async (text: string): Promise<Buffer> =>
    createHmac('sha256', await store.getDatabaseKey())
      .update(text)
      .digest();

  /**
   * Returns the salt shared by all hashes for an e-mail address, so that verifying a password computes one hash,
   * no matter how many members have the address. Computing the salt requires the database's key.
   */
  const saltOf = async (emailaddress: string): Promise<Uint8Array> =>
    (await keyedHash(`salt of passwords\n${emailaddress}`)).subarray(0, saltBytes);

  /** Returns the keyed hash under which the store recognizes a member's network. It differs for each e-mail address. */
  const hashedNetwork = async (c: Context, emailaddress: string): Promise<string> =>
    (await keyedHash(`network of a member\n${emailaddress}\n${networkOf(requestAddress(c))}`)).toString('base64url');

  return { saltOf, hashedNetwork };
};

export const createMemberPasswords = ({ store, addressOf, prefixOf, requestAddress, passwords, now }: Dependencies) => {
  const signIns = createSignInLimits({ addressOf, prefixOf });
  const { saltOf, hashedNetwork } = createHashes({ store, requestAddress });

  /** Returns the members with an e-mail address, and whether each is known at the request's network address. */
  const findMembers = async (c: Context, emailaddress: string, accountUUID?: string) => {
    const network = await hashedNetwork(c, emailaddress);
    return store.findMembers({ emailaddress, accountUUID, network, time: now() });
  };

  /** Records that members have signed in from the request's network address. */
  const noteNetwork = async (c: Context, emailaddress: string, memberIDs: readonly string[]): Promise<void> => {
    const network = await hashedNetwork(c, emailaddress);
    await store.recordKnownNetwork({ memberIDs, network, time: now() });
  };

  /**
   * Returns the members with this password; no match counts as a failed sign-in. While the e-mail address is locked,
   * only members known at the network address are compared.
   */
  const findPasswordMatches = async (
    c: Context,
    password: string,
    emailaddress: string,
    members: readonly MemberCredentials[],
  ) => {
    const salt = await saltOf(emailaddress);
    const emailKey = hashToken(emailaddress);
    const known = members.filter(({ isKnown }) => isKnown);
    const onlyKnown = known.length > 0 && signIns.isLocked(emailKey);
    const compared = onlyKnown ? known : members;
    const costs = signIns.costsOf({ c, emailKey, known, compared });
    takeAll([...costs.always, ...costs.onFailure]);
    const hashes = compared.map((member) => member.password);
    const waiter = { address: addressOf(c), prefix: prefixOf(c), account: known[0]?.account };
    const matchingHashes = await passwords.matching(password, hashes, salt, waiter).catch((error) => {
      // Refunded because nothing was compared.
      refundAll([...costs.always, ...costs.onFailure]);
      throw error;
    });
    const matches = compared.filter((member) => matchingHashes.has(member.password));
    if (matches.length > 0) refundAll(costs.onFailure);
    return { matches, onlyKnown };
  };

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

  /**
   * Hashes a member's new password. If the member has a password, a wrong current password counts as a failed sign-in.
   */
  const hashNewPassword = async (
    fields: Fields,
    c: Context,
    { account, memberID }: { readonly account: number; readonly memberID: string },
  ): Promise<string> => {
    const password = requiredText(fields, 'password');
    const member = (await store.listMembers({ account })).find((each) => each.memberID === memberID);
    if (!member) throw unknownMember();
    const { emailaddress } = member;
    if (member.hasPassword) {
      const field = 'currentPassword';
      const current = requiredText(fields, field);
      checkLength(current, field);
      const members = await findMembers(c, emailaddress);
      // The session proves who the member is, so other people's failed sign-ins with this e-mail address can't block
      // the change.
      const own = members.flatMap((each) => (each.memberID === memberID ? { ...each, isKnown: true } : []));
      const { matches } = await findPasswordMatches(c, current, emailaddress, own);
      if (matches.length === 0) throw new Refusal('invalid_token', { field, message: 'the current password is wrong' });
    }
    signIns.countHash(`member ${memberID}`);
    const newHash = await hash(c, password, { ...member, account });
    signIns.countChange(memberID);
    return newHash;
  };

  return { findMembers, noteNetwork, findPasswordMatches, countHash: signIns.countHash, hash, hashNewPassword };
};
export type MemberPasswords = ReturnType<typeof createMemberPasswords>;
