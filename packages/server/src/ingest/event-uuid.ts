import { nanoid } from 'nanoid';

/** 36^9 milliseconds are enough until the year 5188. */
const timeLength = 9;

/**
 * An eventUUID for an event that came without one: it begins with the time, so that neighbours in time are neighbours
 * in an index, and ends with 72 random bits.
 */
export const createEventUUID = (time: number, random = nanoid(12)): string =>
  time.toString(36).padStart(timeLength, '0') + random;
