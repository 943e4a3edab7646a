import { createClient } from '@firsthand/client';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ReportQuery, ResultOf } from '../../src/reports/queries.ts';
import { firsthand, firsthandJSON } from '../fixtures/command.ts';
import { createFakeReports } from '../fixtures/reports/fake-reports.ts';
import { createAccount, serveHere } from '../fixtures/serving.ts';

/** The result that the server's reports return; undefined stands for zeros. */
let result: ResultOf<ReportQuery> | undefined;
const reports = createFakeReports(async () => result);
const cleanups: (() => unknown)[] = [];
let url: string;
let env: { FIRSTHAND_TOKEN: string };
beforeAll(async () => {
  ({ url } = await serveHere({}, { reports }, (cleanup) => cleanups.unshift(cleanup)));
  env = { FIRSTHAND_TOKEN: (await createAccount(url)).serverTokenUUID };
});
beforeEach(() => {
  result = undefined;
  reports.requests.length = 0;
});
afterAll(async () => {
  for (const cleanup of cleanups) await cleanup();
});

const flags = () => ['--url', url, '--from', '2026-11-01'];
const run = (...args: string[]) => firsthand(['report', ...args, ...flags()], env);
const counts = { events: 8, users: 4, people: 3, sessions: 5 };
const value = { count: 2, sum: 1920.5, average: 5, median: null, p95: 9 };

it('prints totals by interval, with the totals for an earlier range', async () => {
  result = { total: { ...counts, value }, intervals: [{ ...counts, value }] };
  const args = ['--to', '2026-11-02', '--interval', 'day', '--value', 'amount', '--compare', 'previous'];
  const { stdout, stderr } = await run('totals', ...args, '--filter', '7', '--robots', '--timezone', 'Asia/Kolkata');
  expect(stderr).toBe('');
  expect(stdout.split('\n')).toEqual([
    'RANGE    FROM               TO                 EVENTS  USERS  PEOPLE  SESSIONS  SUM     AVERAGE  MEDIAN  P95',
    'current  2026-10-31 18:30Z  2026-11-01 18:30Z  8       4      3       5         1920.5  5        -       9',
    'current  total                                 8       4      3       5         1920.5  5        -       9',
    'earlier  2026-10-30 18:30Z  2026-10-31 18:30Z  8       4      3       5         1920.5  5        -       9',
    'earlier  total                                 8       4      3       5         1920.5  5        -       9',
    '',
  ]);
  const [{ query } = {}] = reports.requests;
  expect(query).toMatchObject({ value: 'amount', robots: true, condition: { eventIDs: [7] } });
});

it('prints a breakdown as CSV without formulas, or as JSON', async () => {
  const rows = [
    { values: ['=HYPERLINK("x")', '9'], ...counts },
    { values: [null, '7'], ...counts },
  ];
  result = { total: counts, rows, others: { groups: 2, ...counts } };
  const breakdown = ['breakdown', '--by', 'attr:plan, event', '--sort', 'users', '--limit', '2'];
  expect((await run(...breakdown, '--csv')).stdout).toBe(
    [
      'attr:plan,event,eventName,events,users,people,sessions',
      `"'=HYPERLINK(""x"")",9,9,8,4,3,5`,
      ',7,7,8,4,3,5',
      '',
    ].join('\r\n'),
  );
  expect((await firsthandJSON(['report', ...breakdown, ...flags()], env)).row).toHaveLength(2);
  const table = (await run(...breakdown)).stdout.split('\n');
  expect(table.slice(2, 5)).toEqual([
    '-                7      7          8       4      3       5',
    '2 others                           8       4      3       5',
    'total                              8       4      3       5',
  ]);
  expect(reports.requests[0]?.query).toMatchObject({ sort: 'users', limit: 2 });
});

it('accepts a funnel’s steps as names, numbers or JSON, and prints the share of people who reached each step', async () => {
  result = { steps: [200, 50, 0] };
  const steps = ['--step', '3', '--step', 'Paid', '--step', '{"attrID":"plan","is":"pro"}'];
  const { stdout } = await run('funnel', ...steps, '--within', '3600', '--per', 'session');
  expect(stdout.split('\n').slice(1)).toEqual([
    '1       3                             200      100.0 %   100.0 %',
    '2       Paid                          50       25.0 %    25.0 %',
    '3       {"attrID":"plan","is":"pro"}  0        0.0 %     0.0 %',
    '',
  ]);
  const conditions = [{ eventIDs: [3] }, { eventIDs: [expect.any(Number)] }, { attrID: 'plan', is: ['pro'] }];
  const query = { steps: conditions, withinMilliseconds: 3_600_000, per: 'session' };
  expect(reports.requests[0]?.query).toMatchObject(query);
});

it('prints a row for each group in a funnel', async () => {
  result = {
    steps: [200, 50],
    rows: [
      { values: [null, '7'], steps: [120, 40] },
      { values: ['pro', '7'], steps: [60, 5] },
    ],
    others: { groups: 3, steps: [20, 5] },
  };
  const args = ['--step', '3', '--step', 'Paid', '--by', 'attr:plan,event', '--limit', '2'];
  expect((await run('funnel', ...args)).stdout.split('\n')).toEqual([
    'ATTR:PLAN  EVENT  EVENTNAME  3    PAID',
    '-          7      7          120  40',
    'pro        7      7          60   5',
    '3 others                     20   5',
    'total                        200  50',
    '',
  ]);
  expect(reports.requests[0]?.query).toMatchObject({ groups: { limit: 2 } });
});

it('prints retention as a triangle', async () => {
  const cohorts = [
    { people: 5, back: [2, 1] },
    { people: 3, back: [0] },
  ];
  result = { cohorts };
  const args = ['--to', '2026-11-03', '--interval', 'day', '--first', 'Signed up', '--back', '{"event":7}'];
  expect((await run('retention', ...args)).stdout.split('\n')).toEqual([
    'FROM               TO                 PEOPLE  BACK 0  BACK 1',
    '2026-11-01 00:00Z  2026-11-02 00:00Z  5       2       1',
    '2026-11-02 00:00Z  2026-11-03 00:00Z  3       0',
    '',
  ]);
  expect(reports.requests[0]?.query).toMatchObject({
    first: { eventIDs: [expect.any(Number)] },
    back: { eventIDs: [7] },
  });
});

it('lists people with their names and IDs', async () => {
  result = { people: [], next: null };
  const { stdout, stderr } = await run(
    'people',
    '--by',
    'attr:plan',
    '--is',
    'pro',
    '--users-at-least',
    '2',
    '--limit',
    '5',
    '--csv',
  );
  const columns =
    'contactUUID,contactExternalID,contactFirstname,contactLastname,contactEmailaddress,userUUID,events,users,first,last';
  expect([stdout, stderr]).toEqual([`${columns}\r\n`, '']);
  await run('people', '--step', '3', '--step', '4', '--dropped', '1', '--json');
  await run('people', '--cohort', '1', '--later', '0', '--first', '7', '--interval', 'day', '--to', '2026-11-03');
  expect(reports.requests.map(({ query }) => query)).toMatchObject([
    { of: { kind: 'group', dimensions: [{ attrID: 'plan' }], values: ['pro'] }, usersAtLeast: 2, limit: 5 },
    { of: { kind: 'step', step: 0, dropped: true } },
    { of: { kind: 'cohort', cohort: 0, later: 0, first: { eventIDs: [7] } } },
  ]);
});

const visits = { bounces: 1, pages: 11, milliseconds: 10_000 / 3 };

it('includes visits in totals and breakdowns', async () => {
  result = { total: { ...counts, visits }, intervals: [{ ...counts, visits }] };
  const [head, row] = (await run('totals', '--visits', '--csv')).stdout.split('\r\n');
  expect(head).toBe('from,to,events,users,people,sessions,bounceRate,pages,seconds');
  expect(row).toMatch(/,8,4,3,5,0\.2,2\.2,0\.6666{5,}\d$/);
  result = {
    total: { ...counts, visits },
    rows: [{ values: ['/tea'], ...counts, visits }],
    others: { groups: 1, ...counts },
  };
  expect((await run('breakdown', '--by', 'entryPage', '--visits')).stdout.split('\n')).toEqual([
    'ENTRYPAGE  EVENTS  USERS  PEOPLE  SESSIONS  BOUNCERATE  PAGES  SECONDS',
    '/tea       8       4      3       5         0.2         2.2    0.6667',
    '1 other    8       4      3       5         -           -      -',
    'total      8       4      3       5         0.2         2.2    0.6667',
    '',
  ]);
  expect(reports.requests.map(({ query }) => query)).toMatchObject([{ visits: true }, { visits: true }]);
});

it('prints how many people in each group logged the event, in a breakdown by first touch', async () => {
  const none = { events: 0, users: 0, people: 0, sessions: 0, among: 9 };
  const rows = [
    { values: ['spring'], ...counts, among: 12 },
    { values: ['summer'], ...none },
  ];
  result = { total: { ...counts, among: 21 }, rows, others: null };
  const args = ['breakdown', '--by', 'person:first:utm_campaign', '--event', 'Paid', '--conversion'];
  expect((await run(...args)).stdout.split('\n')).toEqual([
    'PERSON:FIRST:UTM_CAMPAIGN  EVENTS  USERS  PEOPLE  SESSIONS  AMONG',
    'spring                     8       4      3       5         12',
    'summer                     0       0      0       0         9',
    'total                      8       4      3       5         21',
    '',
  ]);
  await run('breakdown', '--by', 'event', '--event', '7');
  expect(reports.requests.map(({ query }) => query)).toMatchObject([
    {
      dimensions: [{ attrID: 'utm_campaign', of: 'personFirst' }],
      condition: { eventIDs: [expect.any(Number)] },
      among: { condition: null },
    },
    { condition: { eventIDs: [7] } },
  ]);
});

it('prints a row for each group and interval in a breakdown over time', async () => {
  result = { total: counts, rows: [{ values: ['news'], ...counts, intervals: [counts, counts] }], others: null };
  const args = ['breakdown', '--by', 'first:utm_source', '--interval', 'day', '--to', '2026-11-03'];
  expect((await run(...args)).stdout.split('\n')).toEqual([
    'FIRST:UTM_SOURCE  FROM               TO                 EVENTS  USERS  PEOPLE  SESSIONS',
    'news              2026-11-01 00:00Z  2026-11-02 00:00Z  8       4      3       5',
    'news              2026-11-02 00:00Z  2026-11-03 00:00Z  8       4      3       5',
    'total                                                   8       4      3       5',
    '',
  ]);
  expect(reports.requests[0]?.query).toMatchObject({
    limit: 5,
    edges: [1, 2, 3].map((day) => Date.UTC(2026, 10, day)),
  });
  expect(await run(...args, '--visits')).toMatchObject({ code: 2, stderr: expect.stringContaining('--visits') });
});

it('prints how long a funnel’s steps took, in total or for each group', async () => {
  const times = [{ average: 5_000, median: 1_500, p95: 9_000 }];
  result = { steps: [200, 50], times };
  const steps = ['funnel', '--step', '3', '--step', 'Paid', '--times'];
  expect((await run(...steps, '--csv')).stdout.split('\r\n')).toEqual([
    'number,step,reached,of first,of previous,average seconds,median seconds,p95 seconds',
    '1,3,200,100.0 %,100.0 %,,,',
    '2,Paid,50,25.0 %,25.0 %,5,1.5,9',
    '',
  ]);
  result = { steps: [200, 50], times, rows: [{ values: ['pro'], steps: [60, 0], times: [null] }] };
  expect((await run(...steps, '--by', 'attr:plan')).stdout.split('\n')).toEqual([
    'ATTR:PLAN  3    PAID  MEDIAN SECONDS TO PAID',
    'pro        60   0     -',
    'total      200  50    1.5',
    '',
  ]);
  expect(reports.requests.map(({ query }) => query)).toMatchObject([{ times: true }, { times: true }]);
});

it('prints each retention group’s periods', async () => {
  const cohorts = [{ people: 5, back: [2] }];
  result = { cohorts, rows: [{ values: ['spring'], cohorts }], others: { groups: 4 } };
  const args = ['--to', '2026-11-02', '--interval', 'day', '--by', 'person:first:utm_campaign', '--limit', '1'];
  expect((await run('retention', ...args)).stdout.split('\n')).toEqual([
    'PERSON:FIRST:UTM_CAMPAIGN  FROM               TO                 PEOPLE  BACK 0',
    'spring                     2026-11-01 00:00Z  2026-11-02 00:00Z  5       2',
    '4 others',
    'total                      2026-11-01 00:00Z  2026-11-02 00:00Z  5       2',
    '',
  ]);
  expect(reports.requests[0]?.query).toMatchObject({
    groups: { dimensions: [{ attrID: 'utm_campaign', of: 'personFirst' }], limit: 1 },
  });
});

it('sorts people by the sum of an attribute', async () => {
  result = { people: [], next: null };
  const { stdout } = await run('people', '--value', 'amount', '--sort', 'sum', '--csv');
  expect(stdout).toMatch(/,userUUID,events,users,first,last,sum,average,median,p95\r\n$/);
  expect(reports.requests[0]?.query).toMatchObject({ value: 'amount', sort: 'sum' });
});

it('lists and revokes share links', async () => {
  const share = (...args: string[]) => firsthand(['report', 'share', ...args, '--url', url], env);
  const client = createClient({ url, token: env.FIRSTHAND_TOKEN });
  const november = { from: '2026-11-01', to: '2026-12-01' };
  const report = [{ part: 'totals', operation: 'reportTotals', request: november }] as const;
  const { shareID } = await client.createShareLink({ shareName: 'Teapots', viewPage: 'overview', report });
  const [, row = ''] = (await share('list')).stdout.trimEnd().split('\n');
  expect(row).toMatch(new RegExp(`^${shareID} +\\d{4}-\\d\\d-\\d\\d .* never +Teapots$`));
  expect((await share('revoke', shareID)).stdout).toBe(`${shareID} was revoked\n`);
  expect(await firsthandJSON(['report', 'share', 'list', '--url', url], env)).toMatchObject({ shareLink: [] });
  expect(await share('revoke', shareID)).toMatchObject({ code: 1, stdout: '' });
});

it('saves, uses, lists and deletes segments', async () => {
  const segment = (...args: string[]) => firsthand(['report', 'segment', ...args, '--url', url], env);
  const filter = '{"and":[{"event":7},{"attrID":"amount","greaterThan":100}]}';
  expect(await segment('create', 'Big spenders', filter)).toMatchObject({
    code: 0,
    stdout: 'Big spenders was saved\n',
  });
  expect((await segment('create', ' Big spenders ', filter)).stdout).toBe('Big spenders was replaced\n');
  const created = await firsthandJSON(['report', 'segment', 'create', 'Buyers', 'Paid', '--url', url], env);
  expect(created).toEqual({ segmentName: 'Buyers', replaced: false, status: '200' });
  await run('totals', '--filter', '{"segment":"Big spenders"}');
  expect(reports.requests[0]?.query).toMatchObject({
    condition: { and: [{ eventIDs: [7] }, { attrID: 'amount' }] },
  });
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\dZ$/);
  const rows = (await segment('list')).stdout.trimEnd().split('\n');
  expect(rows.map((row) => row.split(/ {2,}/))).toEqual([
    ['NAME', 'UPDATED', 'FILTER'],
    ['Big spenders', time, filter],
    ['Buyers', time, '{"event":"Paid"}'],
  ]);
  expect((await segment('delete', 'Big spenders')).stdout).toBe('Big spenders was deleted\n');
  expect(await firsthandJSON(['report', 'segment', 'list', '--url', url], env)).toMatchObject({
    segment: [{ segmentName: 'Buyers', filter: { event: 'Paid' } }],
  });
  expect(await segment('delete', 'Big spenders')).toMatchObject({ code: 1, stdout: '' });
  expect((await segment('create', 'x', '{"event"')).stderr).toContain('<filter> must be JSON, such as {"event": 7}');
});

it('prints current visitors as lists', async () => {
  const page = { rows: [{ value: '/a', people: 2 }], others: 1 };
  const unknown = { rows: [{ value: null, people: 3 }], others: 0 };
  result = { events: 8, users: 4, people: 3, page, referrerHost: unknown, country: unknown };
  const args = ['report', 'live', '--url', url, '--limit', '1', '--filter', '7'];
  expect((await firsthand(args, env)).stdout.split('\n')).toEqual([
    'LIST          VALUE   PEOPLE',
    'page          /a      2',
    'page          others  1',
    'referrerHost  -       3',
    'country       -       3',
    'total                 3',
    '',
  ]);
  expect((await firsthand([...args, '--csv'], env)).stdout.split('\r\n')[1]).toBe('page,/a,2');
  expect(await firsthandJSON(args, env)).toMatchObject({ people: 3, page: { others: 1 } });
  expect(reports.requests[0]?.query).toMatchObject({ report: 'live', limit: 1, condition: { eventIDs: [7] } });
});

it('reports invalid arguments', async () => {
  const broken = await run('totals', '--filter', '{"event":');
  expect(broken).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--filter must be JSON') });
  const both = await run('totals', '--json', '--csv');
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('either --json or --csv') });
});
