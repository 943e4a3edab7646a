/**
 * Patterns of IDs that clients create, and names that pages use. The tracker bundles this file, so it imports nothing.
 */

/** A userUUID: 16 to 64 of `A-Za-z0-9_-`. See also `isPlaceholderUserUUID`. */
export const userUUIDPattern = /^[\w-]{16,64}$/;

/** An eventUUID or requestUUID: 8 to 64 of `A-Za-z0-9_-`. */
export const eventUUIDPattern = /^[\w-]{8,64}$/;

/** The cookie that carries the userUUID. */
export const userCookieName = 'userUUID';

/**
 * Paths of the operations that pages call, relative to the folder of the tracker script. Plain words, because block
 * lists match names such as `logEvent` and folders such as `event/`.
 */
export const pageNames = {
  logEvent: 'picture',
  logEvents: 'update',
  createContact: 'form',
  getContact: 'profile',
  createHandover: 'leave',
  takeHandover: 'arrive',
} as const;

/** The attribute that marks events from bots, set by the tracker, or by the server for a bot's User-Agent. */
export const robotMark = { attrID: 'robot', attrValue: 'true' } as const;
