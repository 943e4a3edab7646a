/** When visitors come: more by day than by night, more at the end of a week, and a little more each week. */
import type { Random } from './random.ts';

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
export const sampleDays = 30;

/** From 0 to 23 o'clock, UTC. */
const weightOfHour = [
  ...[12, 7, 4, 3, 3, 5, 12, 24, 38, 46, 50, 54, 58, 52, 46, 45, 48, 56, 70, 86, 94, 80, 52, 26],
] as const;
/** From Sunday to Saturday. */
const weightOfWeekday = [1.25, 0.95, 0.9, 0.95, 1, 1.1, 1.2] as const;
/** How much busier the last day is than the first. */
const growth = 0.6;
const mostWeight = Math.max(...weightOfHour) * Math.max(...weightOfWeekday) * (1 + growth);

export interface Rhythm {
  /** The beginning of the month, and the end of what happened, in milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  /** A time between two times at which a visit may begin; `from` and `to` by default. */
  moment(from?: number, to?: number): number;
}

/** `now` is the end of the month. */
export const createRhythm = (random: Random, now: number): Rhythm => {
  const start = now - sampleDays * dayMs;
  const weightAt = (time: number): number => {
    const date = new Date(time);
    const ofHour = weightOfHour[date.getUTCHours()] as number;
    const ofWeekday = weightOfWeekday[date.getUTCDay()] as number;
    return ofHour * ofWeekday * (1 + (growth * (time - start)) / (now - start));
  };
  return {
    from: start,
    to: now,
    moment(from = start, to = now) {
      // A short range of the night may have no better time.
      for (let tries = 0; tries < 50; tries += 1) {
        const time = random.between(Math.ceil(from), Math.floor(to) - 1);
        if (random.next() * mostWeight < weightAt(time)) return time;
      }
      return random.between(Math.ceil(from), Math.floor(to) - 1);
    },
  };
};
