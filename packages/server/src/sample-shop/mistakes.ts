/** Requests with mistakes that developers make: the server refuses each for its content, and lists it. */
import type { Happening } from './happenings.ts';
import type { Random } from './random.ts';
import type { Rhythm } from './rhythm.ts';

type Mistake = Pick<Extract<Happening, { do: 'refuse' }>, 'by' | 'operation' | 'input'>;

const mistakes: readonly ((random: Random, time: number) => Mistake)[] = [
  // Seconds in place of milliseconds, by the shop's own system.
  (random, time) => ({
    by: 'server',
    operation: 'logEvent',
    input: { userUUID: random.id(), eventID: 9, eventTime: Math.floor(time / 1_000) },
  }),
  (random) => ({ by: 'browser', operation: 'logEvent', input: { userUUID: random.id() } }),
  () => ({ by: 'browser', operation: 'logEvent', input: { userUUID: 'undefined', eventID: 1 } }),
  (random) => ({
    by: 'browser',
    operation: 'createContact',
    input: { userUUID: random.id(), contactEmailaddress: `${random.id().slice(0, 6).toLowerCase()}@example` },
  }),
  (random) => ({
    by: 'browser',
    operation: 'logEvent',
    // What was searched for is an attribute, not a part of the name.
    input: { userUUID: random.id(), eventName: `Searched for ${'a stone teapot for two, '.repeat(12)}` },
  }),
  () => ({
    by: 'server',
    operation: 'updateContact',
    input: { contactEmailaddress: 'lost.customer@example.org', contactStatus: 'gone' },
  }),
];

/** So many refused requests of the month, some of them by robots. */
export const createMistakes = (random: Random, rhythm: Rhythm, count: number): Happening[] =>
  Array.from({ length: count }, () => {
    const time = rhythm.moment();
    const mistake = random.pick(mistakes)(random, time);
    return { time, do: 'refuse', robot: mistake.by === 'browser' && random.chance(0.1), ...mistake };
  });
