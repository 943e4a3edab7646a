/** Converts between times and the local times of a time zone, in the form of an input of the type `datetime-local`. */

/** Assembled from parts, because no locale guarantees this format. */
export const toLocalTime = (time: number, timeZone: string): string => {
  const options = { timeZone, calendar: 'iso8601', hourCycle: 'h23', dateStyle: 'short', timeStyle: 'short' } as const;
  const parts = new Intl.DateTimeFormat('en-GB', options).formatToParts(time);
  const [year, month, day, hour, minute] = ['year', 'month', 'day', 'hour', 'minute'].map(
    (name) => parts.find(({ type }) => type === name)?.value,
  );
  return `${year}-${month}-${day}T${hour}:${minute}`;
};

const inUTC = (localTime: string): number => Date.parse(`${localTime}Z`);

/** A local time that clocks skip becomes the time an hour later or earlier; one that they repeat, either of the two. */
export const toTime = (localTime: string, timeZone: string): number => {
  const offsetAt = (time: number): number => inUTC(toLocalTime(time, timeZone)) - time;
  const time = inUTC(localTime);
  return time - offsetAt(time - offsetAt(time));
};
