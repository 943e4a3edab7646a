import { userCookieName } from '@firsthand/contract/identifiers';
import { nanoid } from 'nanoid';
import { readCookie, writeCookie } from './cookie.ts';
import { queuedKeys } from './queue.ts';
import { stored, writeStored } from './storage.ts';

/** A second copy, for when the cookie was lost or is refused. */
export const copyKey = `firsthand.${userCookieName}`;

/** Whose cookie this page has written. */
let written: string | undefined;

let userUUIDLength = 21;

/**
 * From here on, users are made by their own word, against a signal (`consent.ts`): their userUUID has a character more, by
 * which the cookie tells on every later page, and on every subdomain, that it may be kept. Returns true.
 */
export const markUsers = (): boolean => {
  userUUIDLength = 22;
  return true;
};

/** The contract's `userUUIDPattern`, less the placeholders said for everybody that fit it (`mistakes.ts` knows more). */
export const isUserUUID = (candidate: string | undefined): boolean =>
  /^(?!(undefined|null|[-_0])+$)[\w-]{16,64}$/.test(candidate as string);

/**
 * Makes this browser that user. What is queued so far stays with the one whom this site saw last: if that is another, their
 * userUUID is written into every record. Until then a record is that of the user who sends it, so that two tabs opened at once in a new
 * browser can log before it is settled who they are. Of two users in one record the first written stays: it comes last.
 */
const becomeUser = (userUUID: string): void => {
  const last = stored[copyKey];
  if (last !== userUUID && isUserUUID(last))
    queuedKeys('').map((key) => writeStored(key, `{"userUUID":"${last}",${(stored[key] as string).slice(1)}`));
  writeCookie(userUUID);
  writeStored(copyKey, userUUID);
  written = userUUID;
};

/** The userUUID that this browser has so far. */
export const knownUser = (): string | undefined => [readCookie(), stored[copyKey]].find(isUserUUID);

/**
 * This browser's userUUID: made when there is none, its cookie renewed once a page. Where there is none, called by the
 * one tab that has the lock, so that two tabs opened at once in a new browser don't make two. It differs from the one
 * written when another tab or subdomain has reset it, and is '' when all was removed elsewhere: a page in the back-forward cache doesn't hear
 * that consent was taken back.
 */
export const currentUser = (): string => {
  const userUUID = knownUser() || (written ? '' : nanoid(userUUIDLength));
  if (userUUID && written !== userUUID) becomeUser(userUUID);
  return userUUID;
};

/** Removes the cookie; the storage is the caller's to erase. Only then may this page make another user. */
export const forgetUser = (): void => {
  written = '';
  writeCookie('');
};

/** Gives this browser a new userUUID. */
export const resetUser = (): void => {
  currentUser();
  becomeUser(nanoid(userUUIDLength));
};
