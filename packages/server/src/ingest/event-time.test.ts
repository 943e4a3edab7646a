import { describe, expect, it } from 'vitest';
import { eventTimeOf, unlikelyTime } from './event-time.ts';

const received = Date.parse('2026-03-01T12:00:00.000Z');
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const unreplaced = (eventTime: number) => ({ eventTime, timeReplaced: false });
const replaced = { eventTime: received, timeReplaced: true };

describe('an event’s time', () => {
  type Said = { eventTime?: number; clockError?: number };
  it.each<[string, Said, 'browser' | 'server', { eventTime: number; timeReplaced: boolean }]>([
    ['is the received time by default', {}, 'browser', unreplaced(received)],
    ['is the received time regardless of the clock', { clockError: 5 }, 'browser', unreplaced(received)],
    ['is the sent time', { eventTime: received - hour }, 'browser', unreplaced(received - hour)],
    [
      'is corrected for a clock that is a year slow',
      { eventTime: received - 365 * day - minute, clockError: 365 * day },
      'browser',
      unreplaced(received - minute),
    ],
    [
      'is corrected for a clock that is a year fast',
      { eventTime: received + 365 * day - minute, clockError: -365 * day },
      'browser',
      unreplaced(received - minute),
    ],
    [
      'can be 7 days ago when a browser sends it',
      { eventTime: received - 7 * day },
      'browser',
      unreplaced(received - 7 * day),
    ],
    [
      'cannot be more than 7 days ago when a browser sends it',
      { eventTime: received - 7 * day - 1 },
      'browser',
      replaced,
    ],
    [
      'can be 5 minutes ahead when a browser sends it',
      { eventTime: received + 5 * minute },
      'browser',
      unreplaced(received + 5 * minute),
    ],
    [
      'cannot be more than 5 minutes ahead when a browser sends it',
      { eventTime: received + 5 * minute + 1 },
      'browser',
      replaced,
    ],
    [
      'can be years ago when a server sends it',
      { eventTime: received - 900 * day },
      'server',
      unreplaced(received - 900 * day),
    ],
    [
      'can be days ahead when a server sends it',
      { eventTime: received + 9 * day },
      'server',
      unreplaced(received + 9 * day),
    ],
    ['can be in 1970 when a server sends it', { eventTime: 0 }, 'server', unreplaced(0)],
    ['is replaced if it is before 1970', { eventTime: 0, clockError: -1 }, 'server', replaced],
    [
      'is replaced if it is after 9999',
      { eventTime: Date.UTC(9999, 11, 31), clockError: received },
      'server',
      replaced,
    ],
  ])('%s', (_, { eventTime, clockError = 0 }, kind, expected) => {
    const context = { receivedTime: received, clockError, fromBrowser: kind === 'browser' };
    expect(eventTimeOf(eventTime, context)).toEqual(expected);
  });
});

describe('an unlikely time from a server', () => {
  const advice = '. Send milliseconds or ISO 8601; if the time is right, also send `import`: true.';
  it.each<[string, { eventTime?: number; clockError?: number }, string | undefined]>([
    ['none', {}, undefined],
    ['now', { eventTime: received }, undefined],
    ['some years ago', { eventTime: Date.UTC(1999, 0) }, undefined],
    ['months ahead', { eventTime: received + 300 * day }, undefined],
    [
      'seconds',
      { eventTime: 1_763_800_000 },
      'is 1763800000, a time in 1970. It looks like seconds; send milliseconds or ISO 8601.',
    ],
    [
      'seconds, in sentTime too',
      { eventTime: 1_763_800_000, clockError: received - 1_763_800_060 },
      'is 1763800000, a time in 1970. It looks like seconds; send milliseconds or ISO 8601.',
    ],
    ['the beginning of 1970', { eventTime: 0 }, `is before 1990${advice}`],
    ['1969', { eventTime: 0, clockError: -1 }, `corrected by \`sentTime\` is before 1990${advice}`],
    ['a clock that was never set', { eventTime: 5_000, clockError: received - 6_000 }, undefined],
    ['more than a year ahead', { eventTime: received + 366 * day }, `is more than a year ahead${advice}`],
    [
      'a sentTime in seconds',
      { eventTime: received, clockError: received - 1_763_800_000 },
      `corrected by \`sentTime\` is more than a year ahead${advice}`,
    ],
  ])('%s', (_, { eventTime, clockError = 0 }, message) => {
    const context = { receivedTime: received, clockError };
    expect(unlikelyTime(eventTime, { ...context, fromBrowser: false })).toBe(message);
    expect(unlikelyTime(eventTime, { ...context, fromBrowser: false, imported: true })).toBeUndefined();
    expect(unlikelyTime(eventTime, { ...context, fromBrowser: true })).toBeUndefined();
  });
});
