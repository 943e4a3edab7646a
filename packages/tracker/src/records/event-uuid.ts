import { createID } from '../create-id.ts';

/** 36²: the last two base-36 digits count within a millisecond. */
const ticksPerMillisecond = 1296;

let lastTick = 0;
let pastTime: number | undefined;

/**
 * Makes later identifiers encode `time` instead of the current time. Without an argument, they encode the current time
 * again.
 */
export const setPastTime = (time?: number): void => {
  pastTime = time;
};

/**
 * Creates an identifier that sorts by time as text: 8 base-36 digits of milliseconds (enough until 2059), 2 that count
 * within the millisecond, and 10 random digits. Each identifier is greater than the last, which keeps events in order
 * if the clock is set back, and keeps the service's indexes fast.
 */
export const createEventUUID = (): string => {
  lastTick = Math.max(lastTick + 1, (pastTime || Date.now()) * ticksPerMillisecond);
  // A time in 1970 has fewer digits.
  return lastTick.toString(36).padStart(10, '0') + createID(10);
};

/** Returns the time encoded in an identifier, in milliseconds since 1970. */
export const parseEventTime = (eventUUID: string): number => parseInt(eventUUID.slice(0, 8), 36);
