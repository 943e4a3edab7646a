import { describe, expect, it } from 'vitest';
import type { LoggedEvent } from '../../parts/event-line.tsx';
import { browsersOf, type Link, numbersOf, reachesBack, toHistory, toSessions, toTurns } from './history.ts';

const minute = 60_000;
const at = (minutes: number): string => new Date(minutes * minute).toISOString();

const event = (eventUUID: string, minutes: number, userUUID = 'laptop') =>
  ({ eventUUID, userUUID, eventTime: at(minutes), eventAttrArray: [] }) as unknown as LoggedEvent;

const link = (linkID: string, minutes: number, contactUUID: string, more: Partial<Link> = {}): Link => ({
  linkID,
  userUUID: 'laptop',
  contactUUID,
  linkTime: at(minutes),
  verified: true,
  voided: false,
  current: false,
  ...more,
});

describe('sessions', () => {
  it('end with a pause of half an hour, for each browser of its own', () => {
    const events = [event('a', 0), event('b', 29), event('c', 58), event('d', 88), event('p', 30, 'phone')];
    const sessions = toSessions(events);
    expect(sessions.map((session) => [session.userUUID, session.events.map(({ eventUUID }) => eventUUID)])).toEqual([
      ['laptop', ['d']],
      ['laptop', ['c', 'b', 'a']],
      ['phone', ['p']],
    ]);
    expect([sessions[1]?.fromMs, sessions[1]?.toMs]).toEqual([0, 58 * minute]);
  });

  it('are the same in whatever order late events were stored', () => {
    const events = [event('a', 0), event('b', 10), event('c', 50)];
    expect(toSessions([events[2], events[0], events[1]] as LoggedEvent[])).toEqual(toSessions(events));
  });
});

describe('turns', () => {
  it('recognize a browser with its first link that is not voided, and not again', () => {
    const turns = toTurns([
      link('1', 0, 'ann', { voided: true }),
      link('2', 5, 'ann'),
      link('3', 9, 'ann'),
      link('4', 9, 'ann', { userUUID: 'phone' }),
    ]);
    expect(turns.map(({ isRecognition }) => isRecognition)).toEqual([false, true, false, true]);
  });

  it('mark a browser that no longer belongs to the person', () => {
    const links = [link('1', 0, 'ann'), link('2', 1, 'ann', { userUUID: 'phone', current: true })];
    expect(toTurns(links).map(({ isFormer }) => isFormer)).toEqual([true, false]);
  });

  it('recognize a browser that was linked to a contact that is part of this one now', () => {
    expect(toTurns([link('1', 0, 'merged into ann')])).toMatchObject([{ isRecognition: true }]);
  });
});

it('detects that a link reaches back to no event once all events are loaded', () => {
  const [turn] = toTurns([link('1', 5, 'ann')]);
  if (!turn) throw new Error('no turn');
  const reached = { ...event('a', 0), why: { rule: 'reached back', verified: true } } as LoggedEvent;
  const ofPhone = { ...reached, userUUID: 'phone' };
  expect(reachesBack(turn, toSessions([reached]), true)).toBe(true);
  expect(reachesBack(turn, toSessions([event('a', 0), ofPhone]), true)).toBe(false);
  expect(reachesBack(turn, toSessions([]), false)).toBe(true);
});

it('shows no turn before the oldest event that was read, until all are', () => {
  const sessions = toSessions([event('a', 100)]);
  const turns = toTurns([link('1', 50, 'ann'), link('2', 150, 'ann')]);
  const kinds = (isWhole: boolean) =>
    toHistory(sessions, turns, isWhole).map((entry) => (entry.kind === 'turn' ? entry.link.linkID : 'session'));
  expect(kinds(false)).toEqual(['2', 'session']);
  expect(kinds(true)).toEqual(['2', 'session', '1']);
});

it('lists the browsers that are somebody’s now', () => {
  const links = [
    link('1', 0, 'ann'),
    link('2', 2, 'ann', { userUUID: 'phone', current: true }),
    link('3', 3, 'merged into ann', { userUUID: 'tablet', current: true }),
  ];
  expect(browsersOf(links).map(({ userUUID }) => userUUID)).toEqual(['phone', 'tablet']);
});

it('gives each browser one number, in the order of their first links', () => {
  const links = [link('1', 0, 'ada'), link('2', 5, 'ada', { userUUID: 'phone', voided: true }), link('3', 9, 'ada')];
  expect([...numbersOf(links)]).toEqual([
    ['laptop', 1],
    ['phone', 2],
  ]);
});
