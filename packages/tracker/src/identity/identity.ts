import { userCookieName } from '@firsthand/contract/identifiers';
import { createID } from '../create-id.ts';
import { listQueuedKeys } from '../delivery/queue.ts';
import { copies, reloadCopies, stored, writeCopies } from '../delivery/storage.ts';
import { readCookie, writeCookie } from './cookie.ts';

/** The storage key of a second copy of the userUUID, for browsers that lose or reject the cookie. */
export const copyKey = `firsthand.${userCookieName}`;

/** The userUUID that this page has written to the cookie. */
let writtenUserUUID: string | undefined;

let userUUIDLength = 21;

/**
 * Gives new userUUIDs one more character, which marks consent despite a privacy signal (`consent.ts`): the cookie
 * carries this mark to every page and subdomain. Returns true.
 */
export const useMarkedUserUUIDs = (): boolean => {
  userUUIDLength = 22;
  return true;
};

/**
 * Whether a string matches the contract's `userUUIDPattern` and is not one of the most common placeholders
 * (`placeholders.ts` has more).
 */
export const isUserUUID = (candidate: string | undefined): boolean =>
  /^(?!(undefined|null|[-_0])+$)[\w-]{16,64}$/.test(candidate as string);

/**
 * Sets this browser's user. Records queued for the previous user get the previous userUUID.
 *
 * A record without a userUUID belongs to the user who sends it, so that two tabs that open together in a new browser
 * can log before the browser has a userUUID.
 */
export const setUser = (userUUID: string): void => {
  // Another page has created this user, by `reset` or `consent`. Reloads, because a page in the back-forward cache
  // doesn't learn which records were erased.
  if (writtenUserUUID && stored[copyKey] === userUUID) reloadCopies();
  const previousUser = stored[copyKey] || copies[copyKey];
  if (previousUser !== userUUID && isUserUUID(previousUser))
    // If a record gets a second userUUID, the first one counts, because it comes last in the JSON.
    for (const key of listQueuedKeys(''))
      copies[key] = `{"userUUID":"${previousUser}",${(copies[key] as string).slice(1)}`;
  writeCookie(userUUID);
  copies[copyKey] = writtenUserUUID = userUUID;
  writeCopies();
};

/** Returns this browser's userUUID; undefined if it has none yet. */
export const readUser = (): string | undefined => {
  const userUUID = readCookie();
  return isUserUUID(userUUID) ? userUUID : isUserUUID(stored[copyKey]) ? stored[copyKey] : undefined;
};

/**
 * Returns this browser's userUUID, and renews its cookie once per page. If the browser has none, this creates one, so
 * only the tab that has the lock may call it then.
 *
 * Returns '' if another page has removed everything: a page in the back-forward cache doesn't learn that consent was
 * withdrawn.
 */
export const ensureUser = (): string => {
  const userUUID = readUser() || (writtenUserUUID ? '' : createID(userUUIDLength));
  // A script that clears localStorage also removes the copy of the userUUID. The queue's items are then written again.
  if (userUUID && (writtenUserUUID !== userUUID || !stored[copyKey])) setUser(userUUID);
  return userUUID;
};

/** Removes the cookie, so that this page may create another user. The caller erases the storage. */
export const removeUser = (): void => {
  writtenUserUUID = '';
  writeCookie('');
};

/** Gives this browser a new userUUID. */
export const resetUser = (): void => {
  ensureUser();
  setUser(createID(userUUIDLength));
};
