import { beforeAll, describe, expect, it, vi } from 'vitest';

let filter: typeof import('./filter.ts');
beforeAll(async () => {
  // The module reads the URL and the account's names when it loads.
  vi.stubGlobal('location', { href: 'http://127.0.0.1/console/' });
  vi.stubGlobal('navigator', { languages: ['en-GB'] });
  const { account } = await import('./account.ts');
  account.value = {
    event: [
      { eventID: 1, eventName: 'Page viewed' },
      { eventID: 5, eventName: 'Purchased' },
    ],
    attr: [],
    tag: [],
    profile: [],
    accountTimezone: 'UTC',
  } as unknown as NonNullable<typeof account.value>;
  filter = await import('./filter.ts');
  vi.unstubAllGlobals();
});

describe('describeCondition', () => {
  const onPots = { attrID: 'path', is: ['/pots'] };
  const since = { from: '2026-11-24T00:00:00Z' };
  it.each([
    [{ event: [1] }, 'Event is “Page viewed”'],
    [{ did: { event: [5] } }, 'did “Purchased” at any time'],
    [{ did: { event: [1], atLeast: 2 } }, 'did “Page viewed” at least 2 times at any time'],
    [{ did: { event: [1], atLeast: 2, withinDays: 7 } }, 'did “Page viewed” at least 2 times in the last 7 days'],
    [
      { did: { event: [1], filter: onPots, atLeast: 2 } },
      'did “Page viewed” with Page /pots at least 2 times at any time',
    ],
    [{ did: { filter: { attrID: 'path', exists: false } } }, 'did something with no Page at any time'],
    [{ not: { did: { event: [5] } } }, 'never did “Purchased”'],
    [{ not: { did: { event: [5], ...since } } }, 'did not do “Purchased” since 24 Nov 2026'],
    [{ did: { filter: { attrID: 'utm_campaign', is: ['autumn'] } } }, 'came from campaign autumn at any time'],
    [
      { did: { filter: { attrID: 'utm_campaign', is: ['autumn'] }, ...since } },
      'came from campaign autumn since 24 Nov 2026',
    ],
    [{ did: { event: [5], ...since, to: '2026-12-01T00:00:00Z' } }, 'did “Purchased” from 24 Nov 2026 to 30 Nov 2026'],
    [{ attrID: 'path', matches: '/pots/*' }, 'Page matches /pots/*'],
    [{ or: [onPots, { attrID: 'path', isNot: ['/'] }] }, 'Page is /pots or Page is not /'],
  ])('describes %j as “%s”', (condition, words) => {
    expect(filter.describeCondition(condition)).toBe(words);
  });
});
