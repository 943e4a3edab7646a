import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../test/fixtures/runs.ts';
import { sessionPauseMilliseconds as pause } from '../../questions.ts';
import { createVisits, type Remembered } from './visits.ts';

interface Visited {
  readonly visitor: number;
  readonly time: number;
  readonly session: number;
}

const nothing: Remembered = { visitors: [], forgottenUntil: Number.NEGATIVE_INFINITY, lastSession: 0 };

/** What is known after a restart, from the events that were numbered. */
const remember = (visited: readonly Visited[], most: number): Remembered => {
  const numbered = visited.filter(({ session }) => session > 0);
  const last = new Map<number, { visitor: number; last: number; session: number }>();
  for (const { visitor, time, session } of numbered) last.set(visitor, { visitor, last: time, session });
  const newestFirst = [...last.values()].sort((a, b) => b.last - a.last);
  return {
    visitors: newestFirst.slice(0, most),
    forgottenUntil: newestFirst[most]?.last ?? Number.NEGATIVE_INFINITY,
    lastSession: Math.max(0, ...numbered.map(({ session }) => session)),
  };
};

/** The times of each session, in the order of their times. */
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

test('numbers are those of the sessions, also of visitors who were forgotten, and after a restart', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), fc.integer({ min: 2, max: 8 }), (events, most) => {
      const visited: Visited[] = [];
      let visits = createVisits(nothing, [], most);
      let clock = 0;
      for (const { visitor, after, isLate, isAfterRestart } of events) {
        if (isAfterRestart) visits = createVisits(remember(visited, most), visits.irregular, most);
        const time = isLate ? clock - after : clock + after;
        clock = Math.max(clock, time);
        visited.push({ visitor, time, session: visits.sessionOf(visitor, time) });
      }
      const found = new Map<number, number[]>();
      const expected: number[][] = [];
      for (const visitor of new Set(visited.map((each) => each.visitor))) {
        if (visits.irregular.has(visitor)) continue;
        const own = visited.filter((each) => each.visitor === visitor);
        for (const { time, session } of own) found.set(session, [...(found.get(session) ?? []), time]);
        expected.push(...sessionsOf(own.map(({ time }) => time)));
      }
      expect(found.has(0)).toBe(false);
      const inOrder = (lists: readonly number[][]) => lists.map((list) => list.join()).sort();
      expect(inOrder([...found.values()])).toEqual(inOrder(expected));
    }),
    { numRuns: runs(200, 2_000) },
  );
});

test('only visitors whose events are late are irregular while all are remembered', () => {
  const visits = createVisits(nothing, []);
  expect([1, 2, 1, 2, 1].map((visitor, nth) => visits.sessionOf(visitor, (nth * pause) / 2))).toEqual([1, 2, 3, 4, 5]);
  expect([...visits.irregular]).toEqual([]);
  expect(visits.sessionOf(2, 0)).toBe(0);
  expect(visits.sessionOf(2, 10 * pause)).toBe(0);
  expect(visits.sessionOf(3, 10 * pause)).toBe(6);
  expect([...visits.irregular]).toEqual([2]);
});

test('no session is numbered any more when too many visitors are irregular', () => {
  const visits = createVisits(nothing, [1, 2], 2);
  expect(visits.isGivenUp).toBe(false);
  visits.sessionOf(3, 1);
  visits.sessionOf(3, 0);
  expect(visits.isGivenUp).toBe(true);
});

test('many visitors are remembered', () => {
  const visits = createVisits(nothing, []);
  const visitors = Array.from({ length: 50_000 }, (_, nth) => (nth % 2 === 0 ? nth + 1 : -nth));
  const numbers = visitors.map((_, nth) => nth + 1);
  expect(visitors.map((visitor) => visits.sessionOf(visitor, 0))).toEqual(numbers);
  expect(visitors.map((visitor) => visits.sessionOf(visitor, 1))).toEqual(numbers);
});
