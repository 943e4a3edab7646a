import { nanoid } from 'nanoid';

/** 9 digits of base 36 hold milliseconds until the year 5188. */
const timeLength = 9;

/**
 * An eventUUID for an event that has none. It begins with the time, so that events of about the same time are neighbours in an
 * index, and ends with 72 random bits.
 */
export const createEventUUID = (time: number, random = nanoid(12)): string =>
  time.toString(36).padStart(timeLength, '0') + random;
