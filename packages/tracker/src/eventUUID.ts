import { nanoid } from 'nanoid';

/** 36², so that two base-36 digits count within a millisecond. */
const ticksPerMillisecond = 1296;

let lastTick = 0;
let pastTime: number | undefined;

/** Has identifiers made for this time instead of now, until it is called without one. */
export const setPastTime = (time?: number): void => {
  pastTime = time;
};

/**
 * An identifier that sorts by time as text: 8 characters of base-36 milliseconds (enough until 2059), 2 that count within
 * the millisecond, 10 random ones. Keys that grow keep the service's indexes fast, and order our own queue. A clock that
 * is set back doesn't set it back: what is logged keeps its order.
 */
export const createEventUUID = (): string => {
  lastTick = Math.max(lastTick + 1, (pastTime || Date.now()) * ticksPerMillisecond);
  return lastTick.toString(36) + nanoid(10);
};

/** When the identifier was made, in milliseconds. */
export const timeOf = (eventUUID: string): number => parseInt(eventUUID.slice(0, 8), 36);
