import { describe, expect, it } from 'vitest';
import type { LoggedEvent } from '../../parts/event-line.tsx';
import { browsersOf, type Link, numbersOf, reachesBack, toHistory, toLinkEntries, toSessions } from './history.ts';

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

describe('toSessions', () => {
  it('ends a browser’s session after 30 minutes of inactivity', () => {
    const events = [event('a', 0), event('b', 29), event('c', 58), event('d', 88), event('p', 30, 'phone')];
    const sessions = toSessions(events);
    expect(sessions.map((session) => [session.userUUID, session.events.map(({ eventUUID }) => eventUUID)])).toEqual([
      ['laptop', ['d']],
      ['laptop', ['c', 'b', 'a']],
      ['phone', ['p']],
    ]);
    expect([sessions[1]?.fromMs, sessions[1]?.toMs]).toEqual([0, 58 * minute]);
  });

  it('does not depend on the order in which late events were stored', () => {
    const events = [event('a', 0), event('b', 10), event('c', 50)];
    expect(toSessions([events[2], events[0], events[1]] as LoggedEvent[])).toEqual(toSessions(events));
  });
});

describe('toLinkEntries', () => {
  it('treats only a browser’s first valid link as a recognition', () => {
    const marks = toLinkEntries([
      link('1', 0, 'ann', { voided: true }),
      link('2', 5, 'ann'),
      link('3', 9, 'ann'),
      link('4', 9, 'ann', { userUUID: 'phone' }),
    ]);
    expect(marks.map(({ isRecognition }) => isRecognition)).toEqual([false, true, false, true]);
  });

  it('marks a browser that no longer belongs to the person', () => {
    const links = [link('1', 0, 'ann'), link('2', 1, 'ann', { userUUID: 'phone', current: true })];
    expect(toLinkEntries(links).map(({ isFormer }) => isFormer)).toEqual([true, false]);
  });

  it('treats a link as a recognition even if its contact has since been merged into this one', () => {
    expect(toLinkEntries([link('1', 0, 'merged into ann')])).toMatchObject([{ isRecognition: true }]);
  });
});

it('waits for all events before reporting that a link covers no earlier ones', () => {
  const [entry] = toLinkEntries([link('1', 5, 'ann')]);
  if (!entry) throw new Error('no entry');
  const reachedEvent = { ...event('a', 0), why: { rule: 'reached back', verified: true } } as LoggedEvent;
  const ofPhone = { ...reachedEvent, userUUID: 'phone' };
  expect(reachesBack(entry, toSessions([reachedEvent]), true)).toBe(true);
  expect(reachesBack(entry, toSessions([event('a', 0), ofPhone]), true)).toBe(false);
  expect(reachesBack(entry, toSessions([]), false)).toBe(true);
});

it('hides links older than the oldest loaded event until all events are loaded', () => {
  const sessions = toSessions([event('a', 100)]);
  const marks = toLinkEntries([link('1', 50, 'ann'), link('2', 150, 'ann')]);
  const kinds = (isWhole: boolean) =>
    toHistory(sessions, marks, isWhole).map((entry) => (entry.kind === 'link' ? entry.link.linkID : 'session'));
  expect(kinds(false)).toEqual(['2', 'session']);
  expect(kinds(true)).toEqual(['2', 'session', '1']);
});

it('lists a person’s current browsers', () => {
  const links = [
    link('1', 0, 'ann'),
    link('2', 2, 'ann', { userUUID: 'phone', current: true }),
    link('3', 3, 'merged into ann', { userUUID: 'tablet', current: true }),
  ];
  expect(browsersOf(links).map(({ userUUID }) => userUUID)).toEqual(['phone', 'tablet']);
});

it('numbers the browsers in the order of their first links', () => {
  const links = [link('1', 0, 'ada'), link('2', 5, 'ada', { userUUID: 'phone', voided: true }), link('3', 9, 'ada')];
  expect([...numbersOf(links)]).toEqual([
    ['laptop', 1],
    ['phone', 2],
  ]);
});
