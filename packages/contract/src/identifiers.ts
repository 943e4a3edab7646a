/** Patterns of the identifiers that clients create. This file imports nothing, because the tracker bundles it. */

/** A userUUID: 16 to 64 of `A-Za-z0-9_-`. See also `isSharedByMistake`. */
export const userUUIDPattern = /^[\w-]{16,64}$/;

/** An eventUUID or requestUUID: 8 to 64 of `A-Za-z0-9_-`. */
export const eventUUIDPattern = /^[\w-]{8,64}$/;

/** The cookie that carries the userUUID. */
export const userCookieName = 'userUUID';

/** The attribute that marks a robot's event. The tracker sets it, and the server does if the User-Agent is a robot's. */
export const robotMark = { attrID: 'robot', attrValue: 'true' } as const;
