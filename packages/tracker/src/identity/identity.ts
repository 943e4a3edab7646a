import { userCookieName } from '@firsthand/contract/identifiers';
import { createID } from '../create-id.ts';
import { queuedKeys } from '../delivery/queue.ts';
import { copies, rereadStored, stored, writeCopies } from '../delivery/storage.ts';
import { readCookie, writeCookie } from './cookie.ts';

/** The key in storage of a second copy of the userUUID, for browsers that lose or refuse the cookie. */
export const copyKey = `firsthand.${userCookieName}`;

/** The userUUID in the cookie that this page has written. */
let written: string | undefined;

let userUUIDLength = 21;

/**
 * From now on new userUUIDs have one character more, which marks consent given despite a signal (`consent.ts`). The cookie so
 * carries this consent to every later page and subdomain. Returns true.
 */
export const markUsers = (): boolean => {
  userUUIDLength = 22;
  return true;
};

/** Whether a text fits the contract's `userUUIDPattern` and is none of the most common placeholders (`placeholders.ts` has more). */
export const isUserUUID = (candidate: string | undefined): boolean =>
  /^(?!(undefined|null|[-_0])+$)[\w-]{16,64}$/.test(candidate as string);

/**
 * Makes this browser that user. Queued records stay with the last user: if that was another, their userUUID is written into each
 * record. A record without a userUUID belongs to the user who sends it, so that two tabs that open at once in a new browser can log
 * before its userUUID is decided. If a record gets a second userUUID, the first one counts, because it comes last in the JSON.
 */
export const becomeUser = (userUUID: string): void => {
  // Another page has made this user, by `reset` or `consent`. A page in the back-forward cache has not heard which records it erased.
  if (written && stored[copyKey] === userUUID) rereadStored();
  const last = stored[copyKey] || copies[copyKey];
  if (last !== userUUID && isUserUUID(last))
    for (const key of queuedKeys('')) copies[key] = `{"userUUID":"${last}",${(copies[key] as string).slice(1)}`;
  writeCookie(userUUID);
  copies[copyKey] = written = userUUID;
  writeCopies();
};

/** The userUUID of this browser; undefined if it has none yet. */
export const knownUser = (): string | undefined => {
  const userUUID = readCookie();
  return isUserUUID(userUUID) ? userUUID : isUserUUID(stored[copyKey]) ? stored[copyKey] : undefined;
};

/**
 * This browser's userUUID, which is made if there is none. Its cookie is renewed once per page. If there is none, only the tab that
 * has the lock calls this, so that two tabs that open at once in a new browser don't make two. The result differs from `written` if
 * another tab or subdomain has reset it. It is '' if all was removed elsewhere: a page in the back-forward cache doesn't learn that
 * consent was withdrawn.
 */
export const currentUser = (): string => {
  const userUUID = knownUser() || (written ? '' : createID(userUUIDLength));
  // A script that clears localStorage takes the copy of the userUUID, too. Then the queue's items are written again.
  if (userUUID && (written !== userUUID || !stored[copyKey])) becomeUser(userUUID);
  return userUUID;
};

/** Removes the cookie, so that this page may make another user. The caller erases the storage. */
export const forgetUser = (): void => {
  written = '';
  writeCookie('');
};

/** Gives this browser a new userUUID. */
export const resetUser = (): void => {
  currentUser();
  becomeUser(createID(userUUIDLength));
};
