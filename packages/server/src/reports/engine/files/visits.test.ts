import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../test/fixtures/runs.ts';
import { sessionPauseMilliseconds as pause } from '../../queries.ts';
import { createVisits, type VisitHistory } from './visits.ts';

interface NumberedEvent {
  readonly visitor: number;
  readonly time: number;
  readonly session: number;
}

const nothing: VisitHistory = { visitors: [], evictedUntil: Number.NEGATIVE_INFINITY, lastSession: 0 };

/** Returns the history that numbered events leave after a restart. */
const restoreHistory = (numberedEvents: readonly NumberedEvent[], most: number): VisitHistory => {
  const numbered = numberedEvents.filter(({ session }) => session > 0);
  const last = new Map<number, { visitor: number; last: number; session: number }>();
  for (const { visitor, time, session } of numbered) last.set(visitor, { visitor, last: time, session });
  const newestFirst = [...last.values()].sort((a, b) => b.last - a.last);
  return {
    visitors: newestFirst.slice(0, most),
    evictedUntil: newestFirst[most]?.last ?? Number.NEGATIVE_INFINITY,
    lastSession: Math.max(0, ...numbered.map(({ session }) => session)),
  };
};

/** Returns the times of each session's events, in ascending order. */
const sessionsOf = (times: readonly number[]): number[][] => {
  const sessions: number[][] = [];
  let before = Number.NEGATIVE_INFINITY;
  for (const time of [...times].sort((a, b) => a - b)) {
    if (time - before >= pause) sessions.push([]);
    sessions.at(-1)?.push(time);
    before = time;
  }
  return sessions;
};

const event = fc.record({
  visitor: fc.integer({ min: -2, max: 4 }).map((visitor) => (visitor === 0 ? 5 : visitor)),
  after: fc.constantFrom(0, 1, pause / 3, pause - 1, pause, 2 * pause),
  isLate: fc.integer({ min: 1, max: 10 }).map((nth) => nth === 1),
  isAfterRestart: fc.integer({ min: 1, max: 10 }).map((nth) => nth === 1),
});

test('numbers sessions correctly, even for evicted visitors and after a restart', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), fc.integer({ min: 2, max: 8 }), (events, most) => {
      const numberedEvents: NumberedEvent[] = [];
      let visits = createVisits(nothing, [], most);
      let clock = 0;
      for (const { visitor, after, isLate, isAfterRestart } of events) {
        if (isAfterRestart) visits = createVisits(restoreHistory(numberedEvents, most), visits.irregular, most);
        const time = isLate ? clock - after : clock + after;
        clock = Math.max(clock, time);
        numberedEvents.push({ visitor, time, session: visits.sessionOf(visitor, time) });
      }
      const sessions = new Map<number, number[]>();
      const expected: number[][] = [];
      for (const visitor of new Set(numberedEvents.map((each) => each.visitor))) {
        if (visits.irregular.has(visitor)) continue;
        const own = numberedEvents.filter((each) => each.visitor === visitor);
        for (const { time, session } of own) sessions.set(session, [...(sessions.get(session) ?? []), time]);
        expected.push(...sessionsOf(own.map(({ time }) => time)));
      }
      expect(sessions.has(0)).toBe(false);
      const inOrder = (lists: readonly number[][]) => lists.map((list) => list.join()).sort();
      expect(inOrder([...sessions.values()])).toEqual(inOrder(expected));
    }),
    { numRuns: runs(200, 2_000) },
  );
});

test('marks only visitors with late events as irregular if no visitor was evicted', () => {
  const visits = createVisits(nothing, []);
  expect([1, 2, 1, 2, 1].map((visitor, nth) => visits.sessionOf(visitor, (nth * pause) / 2))).toEqual([1, 2, 3, 4, 5]);
  expect([...visits.irregular]).toEqual([]);
  expect(visits.sessionOf(2, 0)).toBe(0);
  expect(visits.sessionOf(2, 10 * pause)).toBe(0);
  expect(visits.sessionOf(3, 10 * pause)).toBe(6);
  expect([...visits.irregular]).toEqual([2]);
});

test('stops numbering sessions if too many visitors are irregular', () => {
  const visits = createVisits(nothing, [1, 2], 2);
  expect(visits.isDisabled).toBe(false);
  visits.sessionOf(3, 1);
  visits.sessionOf(3, 0);
  expect(visits.isDisabled).toBe(true);
});

test('caches many visitors', () => {
  const visits = createVisits(nothing, []);
  const visitors = Array.from({ length: 50_000 }, (_, nth) => (nth % 2 === 0 ? nth + 1 : -nth));
  const numbers = visitors.map((_, nth) => nth + 1);
  expect(visitors.map((visitor) => visits.sessionOf(visitor, 0))).toEqual(numbers);
  expect(visitors.map((visitor) => visits.sessionOf(visitor, 1))).toEqual(numbers);
});
