import { userCookieName, userUUIDPattern } from '@firsthand/contract/identifiers';
import { nanoid } from 'nanoid';
import { readCookie, writeCookie } from './cookie.ts';
import { claimQueued } from './queue.ts';
import { stored, writeStored } from './storage.ts';

/** A second copy, for when the cookie was lost or is refused. */
export const copyKey = `firsthand.${userCookieName}`;

/** Placeholders said for everybody, as far as they fit the pattern; the service knows more of them (`mistakes.ts`). */
const placeholder = /^(undefined|null|[-_0])+$/;

let isRenewed = false;

let userUUIDLength = 21;

/**
 * From here on, users are made by their own word, against a signal (`consent.ts`): their userUUID has a character more, by
 * which the cookie tells on every later page, and on every subdomain, that it may be kept.
 */
export const markUsers = (): void => {
  userUUIDLength = 22;
};

export const isUserUUID = (candidate: string | undefined): boolean =>
  userUUIDPattern.test(candidate as string) && !placeholder.test(candidate as string);

/** Makes this browser that user. What is queued so far stays with the one whom this site saw last. */
const becomeUser = (userUUID: string): void => {
  if (stored[copyKey]) claimQueued(stored[copyKey]);
  writeCookie(userUUID);
  writeStored(copyKey, userUUID);
};

/**
 * This browser's userUUID: made when there is none, its cookie renewed once a page. Called by the one tab that sends,
 * so that two tabs opened at once in a new browser don't make two. It differs from the copy when another subdomain has
 * reset it.
 */
export const currentUser = (): string => {
  const userUUID = [readCookie(), stored[copyKey], nanoid(userUUIDLength)].find(isUserUUID) as string;
  if (!isRenewed || stored[copyKey] !== userUUID) becomeUser(userUUID);
  isRenewed = true;
  return userUUID;
};

/** Gives this browser a new userUUID. */
export const resetUser = (): void => {
  currentUser();
  becomeUser(nanoid(userUUIDLength));
};
