/**
 * Patterns of the identifiers that clients create, and names that pages use. This file imports nothing, because the tracker bundles
 * it.
 */

/** A userUUID: 16 to 64 of `A-Za-z0-9_-`. See also `isSharedByMistake`. */
export const userUUIDPattern = /^[\w-]{16,64}$/;

/** An eventUUID or requestUUID: 8 to 64 of `A-Za-z0-9_-`. */
export const eventUUIDPattern = /^[\w-]{8,64}$/;

/** The cookie that carries the userUUID. */
export const userCookieName = 'userUUID';

/**
 * The names by which a page reaches the operations that are open to it, in the folder of its script. They are plain words, because
 * blockers' lists have rules for names such as `logEvent` and for folders such as `event/`.
 */
export const pageNames = {
  logEvent: 'picture',
  logEvents: 'update',
  createContact: 'form',
  getContact: 'profile',
  createHandover: 'leave',
  takeHandover: 'arrive',
} as const;

/** The attribute that marks a robot's event. The tracker sets it, and the server does if the User-Agent is a robot's. */
export const robotMark = { attrID: 'robot', attrValue: 'true' } as const;
