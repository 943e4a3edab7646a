import { createID } from '../create-id.ts';

/** 36², so that the last two base-36 digits count within a millisecond. */
const ticksPerMillisecond = 1296;

let lastTick = 0;
let pastTime: number | undefined;

/** From now on identifiers are made for `time` instead of now, until this is called without one. */
export const setPastTime = (time?: number): void => {
  pastTime = time;
};

/**
 * An identifier that sorts by time as text: 8 characters of base-36 milliseconds (enough until 2059), 2 that count within the
 * millisecond, 10 random ones. Growing keys keep the service's indexes fast, and sort the tracker's queue. Identifiers grow even
 * if the clock is set back, so that events keep their order.
 */
export const createEventUUID = (): string => {
  lastTick = Math.max(lastTick + 1, (pastTime || Date.now()) * ticksPerMillisecond);
  // A clock in 1970 has fewer digits.
  return lastTick.toString(36).padStart(10, '0') + createID(10);
};

/** The time of an identifier, in milliseconds since 1970. */
export const timeOf = (eventUUID: string): number => parseInt(eventUUID.slice(0, 8), 36);
