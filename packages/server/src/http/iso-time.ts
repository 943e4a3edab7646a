/** A time in an answer: ISO 8601 in UTC with milliseconds. */
export const isoTime = (time: number): string => new Date(time).toISOString();
