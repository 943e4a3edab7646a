import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createFakeReports, type FakeReports } from '../../../../test/fixtures/reports/fake-reports.ts';
import { createFedAccount } from '../../../../test/fixtures/reports/fed-account.ts';
import { sendHostileFilters } from '../../../../test/fixtures/reports/hostile-filters.ts';
import { type Fields, openScene, type Scene } from '../../../../test/fixtures/scene.ts';
import type { ReportQuery, ResultOf } from '../../../reports/queries.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { unlistedIDOf } from '../../../store/rules/accounts/unlisted-names.ts';

const now = Date.parse('2026-11-24T12:00Z');
let time = now;
const day = 86_400_000;

let scene: Scene;
let reports: FakeReports;
let computeResult: (query: ReportQuery, signal?: AbortSignal) => Promise<ResultOf<ReportQuery> | undefined>;
beforeAll(async () => {
  reports = createFakeReports((...args) => computeResult(...args));
  scene = await openScene({ reports, now: () => time, account: { accountTimezone: 'Europe/London' } });
  const event = [
    { eventID: 7, eventName: 'Signed up' },
    { eventID: 9, eventName: 'Paid' },
    { eventID: 12, eventName: 'Paid' },
  ];
  await scene.post('/account/updateAccount', { tokenUUID: scene.tokens.server, event });
});
beforeEach(() => {
  reports.requests.length = 0;
  computeResult = async () => undefined;
});
afterAll(() => scene.close());

const ask = (name: string, fields: Fields) =>
  scene.get(`/report/${name}`, { tokenUUID: scene.tokens.viewer, ...fields });
const november = { from: '2026-11-01', to: '2026-11-03' };
const [begin, middle, end] = ['2026-11-01', '2026-11-02', '2026-11-03'].map(Date.parse) as [number, number, number];
/** Returns the queries that a request passes to the engine. */
const queriesOf = async (name: string, fields: Fields) => {
  const { status, body } = await ask(name, { ...november, ...fields });
  expect([status, body.error]).toEqual([200, undefined]);
  return reports.requests.splice(0).map(({ query }) => query);
};
const problemOf = async (name: string, fields: Fields) => {
  const { status, body } = await ask(name, { ...november, ...fields });
  expect(reports.requests).toEqual([]);
  return [status, body.error.field, body.error.message];
};

const account = () => expect.any(Number);
const common = { account: account(), from: begin, to: end, robots: false, condition: null };
const counts = { events: 8, users: 4, people: 3, sessions: 5 };
const value = { count: 2, sum: 10, average: 5, median: 5, p95: 9 };

describe('every report', () => {
  it('by default covers all events in the range except bot events', async () => {
    expect(await queriesOf('reportTotals', {})).toEqual([
      { ...common, report: 'totals', value: null, edges: [begin, end] },
    ]);
    expect(await queriesOf('reportTotals', { robots: 'include' })).toMatchObject([{ robots: true }]);
    expect(await queriesOf('reportTotals', { to: '' })).toMatchObject([{ to: now + 1 }]);
    const [inKolkata] = await queriesOf('reportTotals', { timezone: 'Asia/Kolkata' });
    expect(inKolkata).toMatchObject({ from: begin - 5.5 * 3_600_000 });
  });

  it.each<[Fields, object]>([
    [{ eventID: 7 }, { eventIDs: [7] }],
    [{ eventName: 'Paid' }, { eventIDs: [9] }],
    [{ eventName: 'Never heard of' }, { eventIDs: [unlistedIDOf('Never heard of')] }],
    [
      { filter: { event: ['Paid', 9, ' Signed up ', 'Never heard of', 7] } },
      { eventIDs: [9, 7, unlistedIDOf('Never heard of')] },
    ],
    [{ filter: { attrID: 'plan', is: ['pro', 5] } }, { attrID: 'plan', is: ['pro', '5'] }],
    [{ filter: { attrID: 'plan', isNot: 'pro' } }, { not: { attrID: 'plan', is: ['pro'] } }],
    [{ filter: { attrID: 'path', contains: '/a' } }, { attrID: 'path', contains: '/a' }],
    [{ filter: { attrID: 'plan', exists: false } }, { attrID: 'plan', exists: false }],
    [{ filter: { attrID: 'n', lessThan: 0 } }, { attrID: 'n', below: 0 }],
    [{ filter: { attrID: 'n', greaterThan: 0 } }, { attrID: 'n', above: 0 }],
    [{ filter: { contact: {} } }, { contacts: null }],
    [{ filter: { contact: { contactTagID: 'nobody-has-it' } } }, { contacts: new Float64Array(0) }],
    [{ filter: { did: {} } }, { did: null, atLeast: 1, atMost: null, from: -8.64e15, to: 8.64e15 }],
    [
      { filter: { did: { event: 'Paid', filter: { event: 7 }, withinDays: 2, atMost: 3 } } },
      { did: { and: [{ eventIDs: [9] }, { eventIDs: [7] }] }, atLeast: 1, atMost: 3, from: now - 2 * day, to: 8.64e15 },
    ],
    [
      { filter: { or: [{ not: { event: 1 } }, { and: [{ event: 2 }] }] } },
      { or: [{ not: { eventIDs: [1] } }, { and: [{ eventIDs: [2] }] }] },
    ],
    [
      { eventID: 7, filter: { attrID: 'plan', exists: true } },
      { and: [{ eventIDs: [7] }, { attrID: 'plan', exists: true }] },
    ],
  ])('with %j covers the events that match the condition', async (fields, condition) => {
    expect(await queriesOf('reportTotals', fields)).toMatchObject([{ condition }]);
  });

  it.each<[name: string, fields: Fields, field: string, message: string]>([
    ['reportTotals', { to: '2026-11-01' }, 'to', '`to` must be later than `from`'],
    ['reportTotals', { eventID: 7, eventName: 'Paid' }, 'eventName', 'together with `eventID`'],
    ['reportTotals', { from: 0, interval: 'hour' }, 'interval', 'more than 1,000 intervals; choose a longer interval'],
    ['reportTotals', { filter: '{"and":[{"event":1},{"attrID":7,"is":1}]}' }, 'filter.and[1].attrID', 'must be text'],
    ['reportTotals', { filter: '' }, 'filter', 'must not be empty'],
    ['reportTotals', { robots: 'only' }, 'robots', 'must be one of: include, exclude'],
    ['reportTotals', { from: 0, compare: 'year' }, 'compare', 'before 1970'],
    ['reportBreakdown', {}, 'by', 'is required'],
    [
      'reportBreakdown',
      { by: 'plan' },
      'by[0]',
      'must be one or two of event, weekday, hour, entryPage, exitPage, referrerHost, entryReferrerHost, firstReferrerHost, contactProfileID, contactTagID and',
    ],
    ['reportBreakdown', { by: 'attr:' }, 'by[0]', 'must be one or two of'],
    ['reportBreakdown', { by: 'first:' }, 'by[0]', 'must be one or two of'],
    ['reportBreakdown', { by: 'event,hour,weekday' }, 'by', 'must be one or two of'],
    ['reportBreakdown', { by: 'hour,hour' }, 'by', 'must not contain the same dimension twice'],
    ['reportBreakdown', { by: 'event', limit: 1_001 }, 'limit', 'from 1 to 1000'],
    ['reportBreakdown', { by: 'event', limit: 21, interval: 'day' }, 'limit', 'must be at most 20 with `interval`'],
    ['reportBreakdown', { by: 'event', conversion: 'include' }, 'conversion', 'requires `eventID` or'],
    ['reportBreakdown', { by: 'person:first:' }, 'by[0]', 'must be one or two of'],
    ['reportPeople', { sort: 'sum' }, 'sort', 'by `sum` requires `attrID`'],
    ['reportRetention', { limit: 5 }, 'limit', 'requires `by`'],
    ['reportTotals', { filter: { personFirst: 'plan' } }, 'filter', 'must have exactly one of is, isNot, contains'],
    ['reportBreakdown', { by: 'hour', from: 0, to: '2100-01-01' }, 'by', 'at most 100 years'],
    ['reportFunnel', {}, 'step', 'is required'],
    ['reportFunnel', { step: [{ event: 1 }] }, 'step', 'must contain at least two filters'],
    ['reportFunnel', { step: Array(9).fill({ event: 1 }) }, 'step', 'must contain at most 8 entries'],
    ['reportFunnel', { step: [{ event: 1 }, { event: 0 }] }, 'step[1].event', 'must be an eventID'],
    ['reportFunnel', { step: [{ event: 1 }, { event: 2 }], within: 0 }, 'within', 'from 1 to 7776000'],
    ['reportFunnel', { step: [{ event: 1 }, { event: 2 }], by: 'plan' }, 'by[0]', 'must be one or two of event'],
    ['reportFunnel', { step: [{ event: 1 }, { event: 2 }], limit: 3 }, 'limit', 'requires `by`'],
    ['reportRetention', { first: '' }, 'first', 'must not be empty'],
    ['reportRetention', { back: { attrID: 'a' } }, 'back', 'must have exactly one of is'],
    ['reportRetention', { from: '2020-01-01', interval: 'day' }, 'interval', 'more than 100 intervals'],
  ])('rejects an invalid field: %s with %j', async (name, fields, field, message) => {
    const [status, path, text] = await problemOf(name, fields);
    expect([status, path]).toEqual([400, field]);
    expect(text).toContain(message);
  });

  it('returns its range and, with compare, the counts in the earlier range', async () => {
    computeResult = async ({ from }) => ({
      total: { ...counts, events: from === begin ? 8 : 6 },
      intervals: [counts],
    });
    const { body } = await ask('reportTotals', { ...november, compare: 'previous' });
    expect(body).toEqual({
      from: '2026-11-01T00:00:00.000Z',
      to: '2026-11-03T00:00:00.000Z',
      total: counts,
      earlier: {
        from: '2026-10-30T00:00:00.000Z',
        to: '2026-11-01T00:00:00.000Z',
        total: { ...counts, events: 6 },
      },
      timezone: 'Europe/London',
      through: Buffer.from('e1.42').toString('base64url'),
      milliseconds: expect.any(Number),
      status: '200',
    });
    expect(reports.requests.map(({ query: { from, to } }) => [from, to])).toEqual([
      [begin, end],
      [begin - 2 * day, begin],
    ]);
    const cursor = { tokenUUID: scene.tokens.viewer, cursor: body.through, order: 'asc' };
    expect((await scene.get('/event/getEvent', cursor)).status).toBe(200);
  });

  it('is refused if there is no engine, but only after its fields are checked', async () => {
    const without = await openScene({ reports: undefined });
    onTestFinished(without.close);
    const fields = { tokenUUID: without.tokens.server, from: '2026-11-01' };
    const { status, headers, body } = await without.get('/report/reportTotals', fields);
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([503, 'no_reports', '1']);
    expect((await without.get('/report/reportTotals', { ...fields, filter: '[]' })).status).toBe(400);
  });

  it('is refused with report_too_slow if it takes too long', async () => {
    computeResult = () => Promise.reject(new Refusal('report_too_slow'));
    const { status, body } = await ask('reportTotals', november);
    expect([status, body.error.code]).toEqual([503, 'report_too_slow']);
  });

  it('accepts or refuses any filter, and passes only valid conditions to the engine', async () => {
    const { wrong, answered, refused } = await sendHostileFilters({ ...scene, reports }, 200, 7);
    expect(wrong).toEqual([]);
    expect(Math.min(answered, refused)).toBeGreaterThan(20);
  });

  it('is aborted when its client disconnects, without logging an error', async () => {
    const server = createServer(getRequestListener(scene.app.fetch)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const leaving = new AbortController();
    const aborted = new Promise<void>((resolve) => {
      computeResult = (_, signal) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => {
            reject(new Error('aborted'));
            resolve();
          });
          leaving.abort();
        });
    });
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/report/reportTotals?from=2026-11-01&tokenUUID=${scene.tokens.viewer}`;
    await expect(fetch(url, { signal: leaving.signal })).rejects.toThrow('abort');
    await aborted;
    await expect.poll(() => scene.logged()).toContain('"path":"/report/reportTotals","status":503');
    expect(scene.logged()).not.toContain('a request failed');
  });
});

describe('reportTotals', () => {
  it('counts by interval, and sums an attribute', async () => {
    computeResult = async () => ({ total: { ...counts, value }, intervals: [counts, { ...counts, value }] });
    const { body } = await ask('reportTotals', { ...november, interval: 'day', attrID: 'amount' });
    expect(reports.requests.map(({ query }) => query)).toEqual([
      { ...common, report: 'totals', value: 'amount', edges: [begin, middle, end] },
    ]);
    expect(body).toMatchObject({ total: { ...counts, value } });
    expect(body.interval).toEqual([
      { from: '2026-11-01T00:00:00.000Z', to: '2026-11-02T00:00:00.000Z', ...counts },
      { from: '2026-11-02T00:00:00.000Z', to: '2026-11-03T00:00:00.000Z', ...counts, value },
    ]);
  });

  it('clips the first and last interval to the range', async () => {
    const [query] = await queriesOf('reportTotals', { from: begin + 1, to: begin + 7_200_000, interval: 'hour' });
    expect(query).toMatchObject({ edges: [begin + 1, begin + 3_600_000, begin + 7_200_000] });
  });

  it('returns zeros if nothing happened', async () => {
    const zeros = { events: 0, users: 0, people: 0, sessions: 0 };
    const { body } = await ask('reportTotals', { ...november, attrID: 'amount', interval: 'day' });
    const none = { ...zeros, value: { count: 0, sum: null, average: null, median: null, p95: null } };
    expect([body.total, body.interval.length]).toEqual([none, 2]);
  });
});

describe('reportBreakdown', () => {
  it.each<[by: string, dimensions: object[]]>([
    ['attr:plan', [{ attrID: 'plan' }]],
    ['attr:event', [{ attrID: 'event' }]],
    ['event, attr:attr:x', [{ by: 'event' }, { attrID: 'attr:x' }]],
    [
      '["entryPage","exitPage"]',
      [
        { attrID: 'path', of: 'first' },
        { attrID: 'path', of: 'last' },
      ],
    ],
    [
      'first:utm_campaign,last:last:x',
      [
        { attrID: 'utm_campaign', of: 'first' },
        { attrID: 'last:x', of: 'last' },
      ],
    ],
    [
      'referrerHost,entryReferrerHost',
      [
        { by: 'referrerHost', own: { hosts: ['localhost', '127.0.0.1', '[::1]'], suffixes: ['.localhost'] } },
        { by: 'entryReferrerHost', own: { hosts: ['localhost', '127.0.0.1', '[::1]'], suffixes: ['.localhost'] } },
      ],
    ],
    ['attr:__proto__', [{ attrID: '__proto__' }]],
    [
      'person:first:utm_campaign,firstReferrerHost',
      [
        { attrID: 'utm_campaign', of: 'personFirst' },
        { by: 'firstReferrerHost', own: { hosts: ['localhost', '127.0.0.1', '[::1]'], suffixes: ['.localhost'] } },
      ],
    ],
  ])('groups by %s', async (by, dimensions) => {
    expect(await queriesOf('reportBreakdown', { by })).toEqual([
      { ...common, report: 'breakdown', value: null, dimensions, offsets: [[begin, 0]], sort: 'people', limit: 100 },
    ]);
  });

  it('filters people by their first event, and returns conversion, intervals and visits', async () => {
    const filter = {
      and: [
        { personFirst: 'utm_source', isNot: 'news' },
        { personFirst: 'plan', lessThan: 3 },
      ],
    };
    const condition = {
      and: [
        { not: { personFirst: { attrID: 'utm_source', is: ['news'] } } },
        { personFirst: { attrID: 'plan', below: 3 } },
      ],
    };
    const request = {
      by: 'attr:plan',
      filter,
      eventName: 'Paid',
      interval: 'day',
      visits: 'include',
      conversion: 'include',
    };
    computeResult = async () => ({
      total: { ...counts, sessions: 4, visits: { bounces: 1, pages: 6, milliseconds: 10_000 }, among: 9 },
      rows: [
        {
          values: ['pro'],
          ...{ ...counts, sessions: 0 },
          visits: { bounces: 0, pages: 0, milliseconds: 0 },
          intervals: [counts],
          among: 3,
        },
      ],
      others: null,
    });
    const { body } = await ask('reportBreakdown', { ...november, to: '2026-11-02', ...request });
    const [{ query } = {}] = reports.requests;
    expect(query).toMatchObject({
      condition: { and: [{ eventIDs: [9] }, condition] },
      ...{ among: { condition }, visits: true, limit: 5, edges: [begin, middle] },
    });
    expect(body.total).toMatchObject({ among: 9, visits: { bounceRate: 0.25, pages: 1.5, seconds: 2.5 } });
    expect(body.row).toMatchObject([
      {
        ...{ values: ['pro'], among: 3, visits: { bounceRate: null, pages: null, seconds: null } },
        interval: [{ from: '2026-11-01T00:00:00.000Z', to: '2026-11-02T00:00:00.000Z', ...counts }],
      },
    ]);
  });

  it('groups by the zone’s local time', async () => {
    const range = { from: '2026-10-01', to: '2026-11-01', by: 'weekday,hour', sort: 'events', limit: '5' };
    expect(await queriesOf('reportBreakdown', range)).toMatchObject([
      {
        offsets: [
          [Date.parse('2026-09-30T23:00Z'), 3_600_000],
          [Date.parse('2026-10-25T01:00Z'), 0],
        ],
        sort: 'events',
        limit: 5,
      },
    ]);
  });

  it('returns event names, and counts for everything that is not in a row', async () => {
    computeResult = async () => ({
      total: counts,
      rows: [
        { values: ['pro', '9'], ...counts },
        { values: [null, '999'], ...counts },
      ],
      others: { groups: 3, ...counts },
    });
    const { body } = await ask('reportBreakdown', { ...november, by: 'attr:plan,event' });
    expect(body).toMatchObject({ total: counts, others: { groups: 3, ...counts } });
    expect(body.row).toEqual([
      { values: ['pro', '9'], eventName: 'Paid', ...counts },
      { values: [null, '999'], eventName: '999', ...counts },
    ]);
    computeResult = async () => ({ total: counts, rows: [{ values: ['9'], ...counts }], others: null });
    const { row, others } = (await ask('reportBreakdown', { ...november, by: 'attr:event' })).body;
    expect([row, others]).toEqual([[{ values: ['9'], ...counts }], undefined]);
  });
});

describe('reportFunnel', () => {
  const step = [{ event: 'Signed up' }, { event: 'Paid' }];
  const steps = [{ eventIDs: [7] }, { eventIDs: [9] }];

  it('passes the steps in order', async () => {
    const funnel = { ...common, report: 'funnel', steps };
    expect(await queriesOf('reportFunnel', { step })).toEqual([
      { ...funnel, withinMilliseconds: 30 * day, per: 'person' },
    ]);
    const request = { step, within: 3_600, per: 'session', filter: { attrID: 'plan', is: 'pro' } };
    expect(await queriesOf('reportFunnel', request)).toEqual([
      { ...funnel, condition: { attrID: 'plan', is: ['pro'] }, withinMilliseconds: 3_600_000, per: 'session' },
    ]);
  });

  it('returns each group’s steps', async () => {
    const [query] = await queriesOf('reportFunnel', { step, by: 'event,attr:plan', limit: 5 });
    const dimensions = [{ by: 'event' }, { attrID: 'plan' }];
    expect(query).toMatchObject({ groups: { dimensions, offsets: [[begin, 0]], limit: 5 } });
    computeResult = async () => ({
      steps: [45, 12],
      rows: [{ values: ['7', null], steps: [40, 10] }],
      others: { groups: 2, steps: [5, 2] },
    });
    const { body } = await ask('reportFunnel', { ...november, step, by: 'event,attr:plan', limit: 1 });
    expect(body.step).toEqual([{ reached: 45 }, { reached: 12 }]);
    const reached = [{ reached: 40 }, { reached: 10 }];
    expect(body.row).toEqual([{ values: ['7', null], eventName: 'Signed up', step: reached }]);
    expect(body.others).toEqual({ groups: 2, step: [{ reached: 5 }, { reached: 2 }] });
  });

  it('returns how many people reached each step', async () => {
    computeResult = async () => ({ steps: [45, 12] });
    const { body } = await ask('reportFunnel', { ...november, step, compare: 'year' });
    expect([body.step, body.earlier.step]).toEqual(Array(2).fill([{ reached: 45 }, { reached: 12 }]));
  });
});

describe('reportRetention', () => {
  it('groups by week, or by the requested interval', async () => {
    const [weekly] = await queriesOf('reportRetention', {});
    expect(weekly).toEqual({ ...common, report: 'retention', first: null, back: null, edges: [begin, middle, end] });
    const [daily] = await queriesOf('reportRetention', {
      to: '2026-11-04',
      interval: 'day',
      first: { event: 'Signed up' },
      back: { attrID: 'amount', greaterThan: 1 },
    });
    expect(daily).toMatchObject({
      first: { eventIDs: [7] },
      back: { attrID: 'amount', above: 1 },
      edges: [begin, middle, end, end + day],
    });
  });

  it('returns how many people came back in each period', async () => {
    computeResult = async () => ({
      cohorts: [
        { people: 5, back: [2, 1] },
        { people: 3, back: [0] },
      ],
    });
    const { body } = await ask('reportRetention', november);
    expect(body.cohort).toEqual([
      { from: '2026-11-01T00:00:00.000Z', to: '2026-11-02T00:00:00.000Z', people: 5, back: [2, 1] },
      { from: '2026-11-02T00:00:00.000Z', to: '2026-11-03T00:00:00.000Z', people: 3, back: [0] },
    ]);
  });
});

describe('reportPeople', () => {
  const ofPeople = { ...common, report: 'people', usersAtLeast: 0, limit: 100, beyond: null, until: null };
  const step = [{ event: 'Signed up' }, { event: 'Paid' }];
  const steps = [{ eventIDs: [7] }, { eventIDs: [9] }];

  it.each<[string, Fields, object]>([
    ['everyone in a range', {}, { kind: 'all' }],
    [
      'a row',
      { by: 'attr:plan,event', value: ['pro', null] },
      {
        kind: 'group',
        dimensions: [{ attrID: 'plan' }, { by: 'event' }],
        offsets: [[begin, 0]],
        values: ['pro', null],
      },
    ],
    [
      'a step',
      { step, reached: 2, within: 60, per: 'session' },
      { kind: 'step', steps, withinMilliseconds: 60_000, per: 'session', step: 1, dropped: false },
    ],
    [
      'people who dropped out',
      { step, dropped: 1 },
      { kind: 'step', steps, withinMilliseconds: 30 * day, per: 'person', step: 0, dropped: true },
    ],
    [
      'a step in a group',
      { step, reached: 1, by: 'attr:plan', value: [null] },
      {
        ...{ kind: 'step', steps, withinMilliseconds: 30 * day, per: 'person', step: 0, dropped: false },
        group: { dimensions: [{ attrID: 'plan' }], offsets: [[begin, 0]], values: [null] },
      },
    ],
    [
      'a cohort',
      { cohort: 1, first: { event: 'Paid' }, interval: 'day' },
      { kind: 'cohort', first: { eventIDs: [9] }, back: null, edges: [begin, middle, end], cohort: 0, later: null },
    ],
    [
      'people who came back',
      { cohort: 2, later: 0 },
      { kind: 'cohort', first: null, back: null, edges: [begin, middle, end], cohort: 1, later: 0 },
    ],
  ])('finds the people behind %s', async (_, fields, of) => {
    expect(await queriesOf('reportPeople', fields)).toEqual([{ ...ofPeople, of }]);
  });

  it('uses the row of the target entry for the ID of a merged entry', async () => {
    const token = { tokenUUID: scene.tokens.server };
    const tag = [{ tagID: 'vip' }, { tagID: 'VIP' }];
    await scene.post('/account/updateAccount', { ...token, tag });
    for (const [catalogue, entryID, otherEntryID] of [
      ['event', '7', '12'],
      ['tag', 'vip', 'VIP'],
    ]) {
      await scene.post('/account/mergeEntry', { ...token, catalogue, entryID, otherEntryID });
      onTestFinished(async () => {
        await scene.post('/account/unmergeEntry', { ...token, catalogue, otherEntryID });
      });
    }
    const valuesOf = async (by: string, value: readonly (string | null)[]) => {
      const [query] = await queriesOf('reportPeople', { by, value });
      return (query as { of?: { values?: unknown } }).of?.values;
    };
    expect(await valuesOf('event,attr:plan', ['12', '12'])).toEqual(['7', '12']);
    expect(await valuesOf('event', ['9'])).toEqual(['9']);
    expect(await valuesOf('contactTagID', ['VIP'])).toEqual(['vip']);
    expect(await valuesOf('event,contactTagID', [null, ''])).toEqual([null, '']);
  });

  it.each<[Fields, string, string]>([
    [{ value: ['pro'] }, 'value', 'requires `by`'],
    [{ by: 'event' }, 'value', 'must have a value for each part of `by`'],
    [{ by: 'event,hour', value: ['7'] }, 'value', 'must have a value for each part of `by`'],
    [{ by: 'event', value: [['7']] }, 'value[0]', 'must be text of at most 2,048 characters'],
    [{ by: 'event', cohort: 1 }, 'value', 'must have a value for each part of `by`'],
    [{ step }, 'reached', 'or `dropped` is required with `step`'],
    [{ step, reached: 1, by: 'event' }, 'value', 'must have a value for each part of `by`'],
    [{ step, reached: 1, by: 'event', value: ['7'], cohort: 1 }, 'cohort', 'must not be given together with `step`'],
    [{ step, reached: 1, dropped: 1 }, 'reached', 'but not both'],
    [{ step, reached: 3 }, 'reached', 'must be the number of a step'],
    [{ step, dropped: 2 }, 'dropped', 'must be the number of a step before the last'],
    [{ reached: 1 }, 'reached', 'requires `step`'],
    [{ later: 1 }, 'later', 'requires `cohort`'],
    [{ cohort: 0 }, 'cohort', 'must be a whole number from 1 to 100'],
    [{ limit: 1_001 }, 'limit', 'must be a whole number from 1 to 1000'],
    [{ cursor: 'ZTEuNDI' }, 'cursor', 'must be a nextCursor of this operation'],
    [{ compare: 'year' }, 'compare', 'is not a parameter of reportPeople'],
  ])('rejects %j', async (fields, field, message) => {
    const [status, path, text] = await problemOf('reportPeople', fields);
    expect([status, path]).toEqual([400, field]);
    expect(text).toContain(message);
  });

  it('sorts people by the sum of an attribute, even on later pages', async () => {
    const next = { key: -0.1, person: -7 };
    computeResult = async () => ({ people: [], next });
    const request = { ...november, attrID: 'amount', sort: 'sum' };
    const { body } = await ask('reportPeople', request);
    await ask('reportPeople', { ...request, cursor: body.nextCursor });
    expect(reports.requests.map(({ query }) => query)).toMatchObject([
      { value: 'amount', sort: 'sum', beyond: null },
      { value: 'amount', sort: 'sum', beyond: next },
    ]);
  });

  it('returns the names of contacts and users, page by page', async () => {
    const userUUID = 'a-browser-of-nobody';
    const ofAnn = 'a-browser-of-ann-lemon';
    const { server } = scene.tokens;
    for (const one of [userUUID, ofAnn])
      await scene.post('/logEvent', { tokenUUID: server, userUUID: one, eventID: 7 });
    const ann = { contactEmailaddress: 'ann@shop.example', contactFirstname: 'Ann', contactProfileID: 'customer' };
    const { body: created } = await scene.post('/createContact', { tokenUUID: server, userUUID: ofAnn, ...ann });
    const fed = await createFedAccount(scene.store, 1).read();
    const owner = fed.find(({ owner: contact }) => contact)?.owner as number;
    const user = fed.find(({ owner: contact }) => !contact)?.user as number;
    const times = { events: 1, users: 1, firstTime: begin, lastTime: middle };
    const next = { key: middle, person: -user };
    computeResult = async () => ({
      people: [
        { person: owner, ...times },
        { person: -user, ...times },
        { person: 77_777, ...times },
      ],
      next,
    });
    const { to: _, ...open } = november;
    reports.requests.length = 0;
    const { body } = await ask('reportPeople', { ...open, limit: 3 });
    const to = reports.requests[0]?.query.to;
    const expected = {
      events: 1,
      users: 1,
      firstTime: '2026-11-01T00:00:00.000Z',
      lastTime: '2026-11-02T00:00:00.000Z',
    };
    const noNames = { contactExternalID: '', contactFirstname: '', contactLastname: '', contactEmailaddress: '' };
    expect(body.person).toEqual([
      {
        ...noNames,
        ...expected,
        contactUUID: created.contactUUID,
        userUUID: '',
        contactFirstname: 'Ann',
        contactEmailaddress: 'ann@shop.example',
      },
      { ...noNames, ...expected, contactUUID: '', userUUID },
    ]);
    reports.requests.length = 0;
    computeResult = async () => undefined;
    time += day;
    const last = await ask('reportPeople', { ...open, cursor: body.nextCursor });
    expect(reports.requests[0]?.query).toMatchObject({ beyond: next, until: 42, to });
    time = now;
    expect([last.body.nextCursor, last.body.through]).toEqual(['', body.through]);
  });
});

describe('reportLive', () => {
  it('covers the last five minutes, and events from clocks that are ahead', async () => {
    const accountOrigin = ['https://shop.example', 'https://*.shop.example:8443'];
    await scene.post('/account/updateAccount', { tokenUUID: scene.tokens.server, accountOrigin });
    await ask('reportLive', { limit: 5, filter: { event: 'Paid' }, robots: 'include' });
    expect(reports.requests.map(({ query }) => query)).toEqual([
      {
        report: 'live',
        account: account(),
        from: now - 300_000,
        to: now + 300_000,
        robots: true,
        condition: { eventIDs: [9] },
        limit: 5,
        own: {
          hosts: ['shop.example', 'localhost', '127.0.0.1', '[::1]'],
          suffixes: ['.shop.example', '.localhost'],
        },
      },
    ]);
  });

  it('returns people by page, referrer and country', async () => {
    const page = { rows: [{ value: '/a', people: 2 }], others: 1 };
    const country = { rows: [{ value: null, people: 3 }], others: 0 };
    computeResult = async () => ({ events: 8, users: 4, people: 3, page, referrerHost: country, country });
    const { status, body } = await ask('reportLive', {});
    expect(status).toBe(200);
    expect(body).toMatchObject({
      from: '2026-11-24T11:55:00.000Z',
      to: '2026-11-24T12:00:00.000Z',
      events: 8,
      users: 4,
      people: 3,
      through: 'ZTEuNDI',
    });
    expect(body.page).toEqual({ row: [{ value: '/a', people: 2 }], others: 1 });
    expect([body.referrerHost, body.country]).toEqual(Array(2).fill({ row: [{ value: null, people: 3 }], others: 0 }));
  });

  it.each([
    ['limit', 0],
    ['limit', 101],
    ['from', '2026-11-01'],
    ['filter', '{"event":'],
  ])('rejects %s=%s', async (field, text) => {
    const { status, body } = await ask('reportLive', { [field]: text });
    expect([status, body.error.field]).toEqual([400, field]);
  });
});
