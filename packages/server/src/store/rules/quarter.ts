/** Events are counted by quarters of an hour: the hours and days of every time zone of today begin with one. */
export const quarterMilliseconds = 900_000;

/** The quarter of a time in milliseconds, counted from 1970. */
export const quarterOf = (time: number): number => Math.floor(time / quarterMilliseconds);
