import { limits } from '@firsthand/contract/limits';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFakeReports, type FakeReports } from '../../../../test/fixtures/reports/fake-reports.ts';
import { type Fields, openScene, type Scene } from '../../../../test/fixtures/scene.ts';

const day = 86_400_000;
const start = Date.parse('2026-11-24T12:00Z');
let time = start;
let reports: FakeReports;
const account = { accountOrigin: ['https://shop.example'], accountTimezone: 'Asia/Tokyo', accountCurrency: 'JPY' };
let scene: Scene;
beforeAll(async () => {
  reports = createFakeReports();
  scene = await openScene({ reports, now: () => time, account });
});
beforeEach(() => {
  time = start;
  reports.requests.length = 0;
});
afterAll(() => scene.close());

const november = { from: '2026-11-01', to: '2026-12-01' };
const totals = (request: Fields = november) => ({ part: 'totals', operation: 'reportTotals', request });
const create = (fields: Fields = {}, tokenUUID = scene.tokens.editor) =>
  scene.post('/report/createShareLink', {
    tokenUUID,
    shareName: 'Teapots',
    viewPage: 'overview',
    report: [totals()],
    ...fields,
  });
const open = (shareSecret: unknown) => scene.post('/console/shared', { shareSecret });
const ask = (shareSecret: unknown, part: unknown = 'totals', fields: Fields = {}) =>
  scene.post('/console/shared/report', { shareSecret, part, ...fields });
/** Creates a link and returns its secret. */
const createSecret = async (fields: Fields = {}): Promise<string> => {
  const { status, body } = await create(fields);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.shareSecret;
};
const problemOf = async (fields: Fields) => {
  const { status, body } = await create(fields);
  return [status, body.error.code, body.error.field];
};
const list = async () =>
  (await scene.get('/report/listShareLinks', { tokenUUID: scene.tokens.editor })).body.shareLink as Fields[];
const revoke = (shareID: unknown) => scene.post('/report/revokeShareLink', { tokenUUID: scene.tokens.editor, shareID });

describe('a share link', () => {
  it('shows its reports, for 30 days by default', async () => {
    const { body } = await create({ viewQuery: 'measure=users&filter=%5B%5D&account=x&who=%7B%7D&range=7d' });
    const { shareID, shareSecret, expiresTime } = body;
    expect(shareSecret).toMatch(/^share_[\w-]{32}$/);
    expect(expiresTime).toBe(new Date(start + 30 * day).toISOString());
    expect((await open(shareSecret)).body).toEqual({
      shareName: 'Teapots',
      viewPage: 'overview',
      viewQuery: 'measure=users&range=7d',
      timezone: 'Asia/Tokyo',
      currency: 'JPY',
      expiresTime,
      report: [{ part: 'totals', operation: 'reportTotals' }],
      event: [],
      attr: [],
      status: '200',
    });
    const response = await ask(shareSecret);
    expect(response.body).toEqual({
      from: '2026-10-31T15:00:00.000Z',
      to: '2026-11-30T15:00:00.000Z',
      total: { events: 0, users: 0, people: 0, sessions: 0 },
      timezone: 'Asia/Tokyo',
      status: '200',
    });
    const sources = { part: 'sources', operation: 'reportBreakdown', request: { ...november, by: 'referrerHost' } };
    await ask(await createSecret({ report: [sources] }), 'sources');
    expect(reports.requests.at(-1)?.query).toMatchObject({
      dimensions: [{ own: { hosts: expect.arrayContaining(['shop.example']) } }],
    });
    const listed = async () => (await list()).find((link) => link.shareID === shareID);
    await expect.poll(listed).toEqual({
      ...{ shareID, shareName: 'Teapots', viewPage: 'overview', createdTime: new Date(start).toISOString() },
      ...{ createdBy: expect.any(String), expiresTime, lastUsedTime: new Date(start).toISOString() },
    });
    expect(JSON.stringify(await list())).not.toContain(shareSecret);
  });

  it('stops working when it expires or is revoked', async () => {
    const shareSecret = await createSecret({ expiresTime: new Date(start + day).toISOString() });
    time = start + day - 1;
    expect((await ask(shareSecret)).status).toBe(200);
    time += 1;
    const ended = await ask(shareSecret);
    time = start;
    const { body } = await create();
    expect((await ask(body.shareSecret)).status).toBe(200);
    expect((await revoke(body.shareID)).body).toEqual({ shareID: body.shareID, status: '200' });
    const gone = await ask(body.shareSecret);
    const unknown = await ask(`share_${'x'.repeat(32)}`);
    for (const { status, body: refusal } of [ended, gone, unknown]) {
      expect([status, refusal.error]).toEqual([
        404,
        { code: 'unknown_share_link', message: 'this link is no longer valid' },
      ]);
    }
    expect((await revoke(body.shareID)).body.error.code).toBe('unknown_share_link');
  });

  it.each([
    ['by days', 'day', { from: '2026-11-18' }, start + 40 * day, ['2026-12-27T15:00Z', '2027-01-03T12:00:00.001Z']],
    [
      'by days, with an end',
      'day',
      { from: '2026-11-23', to: '2026-11-24' },
      start + day,
      ['2026-11-23T15:00Z', '2026-11-24T15:00Z'],
    ],
    ['by months', 'month', { from: '2025-12-01' }, start + 40 * day, ['2026-01-31T15:00Z', '2027-01-03T12:00:00.001Z']],
    ['not at all', undefined, november, start + 40 * day, ['2026-10-31T15:00Z', '2026-11-30T15:00Z']],
  ] as const)('moves its days forward with the calendar %s', async (_, moving, request, later, [from, to]) => {
    const shareSecret = await createSecret({
      expiresTime: new Date(start + 300 * day).toISOString(),
      ...(moving && { moving }),
      report: [totals(request)],
    });
    time = later;
    expect((await ask(shareSecret)).status).toBe(200);
    expect(reports.requests.map(({ query }) => query)).toMatchObject([{ from: Date.parse(from), to: Date.parse(to) }]);
  });

  it('runs a report once for all concurrent viewers', async () => {
    const shareSecret = await createSecret();
    const responses = await Promise.all(Array.from({ length: 20 }, () => ask(shareSecret)));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    expect(reports.requests).toHaveLength(1);
  });

  it('uses segments as they were when the link was created', async () => {
    const segment = (filter: object) =>
      scene.post('/report/createSegment', { tokenUUID: scene.tokens.server, segmentName: 'Buyers', filter });
    await segment({ event: 7 });
    const report = [totals({ ...november, filter: { segment: 'Buyers' } })];
    const shareSecret = await createSecret({ report });
    await segment({ event: 8 });
    await ask(shareSecret);
    expect(reports.requests.map(({ query }) => 'condition' in query && query.condition)).toEqual([{ eventIDs: [7] }]);
    const unknown = [totals(), { ...totals({ ...november, filter: { not: { segment: 'x' } } }), part: 'other' }];
    expect(await problemOf({ report: unknown })).toEqual([
      404,
      'unknown_segment',
      'report[1].request.filter.not.segment',
    ]);
  });

  it('runs each report exactly as it was sent', async () => {
    const filter = {
      and: [
        { did: { event: ['Paid', 3], atLeast: 2, from: '2026-01-01T00:00:00Z', filter: { attrID: 'a', is: 'x' } } },
        { not: { contact: { contactTagID: 'vip', createdFrom: '2026-01-01T00:00:00Z' } } },
        {
          or: [
            { attrID: 'n', lessThan: 5 },
            { attrID: 'm', exists: true },
            { attrID: 'p', contains: 'tea' },
          ],
        },
      ],
    };
    const shared = { ...november, filter };
    const requests = {
      reportTotals: { ...shared, interval: 'day', attrID: 'amount', compare: 'year', robots: 'include' },
      reportBreakdown: { ...shared, by: 'attr:plan,weekday', sort: 'events', limit: 5, eventID: 3 },
      reportFunnel: { ...shared, step: [{ event: 1 }, filter], within: 60, per: 'session', by: ['event'] },
      reportRetention: { ...shared, first: { event: 1 }, back: filter, interval: 'month', timezone: 'UTC' },
    };
    const report = Object.entries(requests).map(([operation, request]) => ({ part: operation, operation, request }));
    const shareSecret = await createSecret({ report });
    for (const [name, request] of Object.entries(requests)) {
      reports.requests.length = 0;
      const fields = Object.fromEntries(
        Object.entries(request).map(([field, value]) => [
          field,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]),
      );
      const direct = await scene.get(`/report/${name}`, {
        tokenUUID: scene.tokens.viewer,
        ...fields,
        ...(Array.isArray((request as Fields).by) && { by: 'event' }),
      });
      expect([name, direct.body.error]).toEqual([name, undefined]);
      const expected = reports.requests.splice(0).map(({ query }) => query);
      const shown = await ask(shareSecret, name);
      expect(shown.body.error).toBeUndefined();
      expect(reports.requests.map(({ query }) => query)).toEqual(expected);
      const { through, milliseconds, ...rest } = direct.body;
      expect(shown.body).toEqual(rest);
    }
  });

  it.each<[string, Fields, string]>([
    ['no name', { shareName: ' ' }, 'shareName'],
    ['a name with a text direction override', { shareName: 'a\u202eb' }, 'shareName'],
    ['an expiry in the past', { expiresTime: start }, 'expiresTime'],
    ['an expiry more than a year away', { expiresTime: start + 366 * day + 1 }, 'expiresTime'],
    ['another page', { viewPage: 'people' }, 'viewPage'],
    ['no report', { report: [] }, 'report'],
    [
      'too many reports',
      { report: Array.from({ length: 13 }, (_, part) => ({ ...totals(), part: `p${part}` })) },
      'report',
    ],
    ['the same part twice', { report: [totals(), totals()] }, 'report[1].part'],
    ['an invalid part name', { report: [{ ...totals(), part: 'a b' }] }, 'report[0].part'],
    ['the people behind a report', { report: [{ ...totals(), operation: 'reportPeople' }] }, 'report[0].operation'],
    ['the live report', { report: [{ ...totals(), operation: 'reportLive' }] }, 'report[0].operation'],
    ['events', { report: [{ ...totals(), operation: 'getEvent' }] }, 'report[0].operation'],
    ['a name from Object.prototype', { report: [{ ...totals(), operation: 'constructor' }] }, 'report[0].operation'],
    ['a request that is a list', { report: [totals([] as unknown as Fields)] }, 'report[0].request'],
    ['an unknown field', { report: [totals({ ...november, limit: 5 })] }, 'report[0].request.limit'],
    ['a token', { report: [totals({ ...november, tokenUUID: 'x' })] }, 'report[0].request.tokenUUID'],
    ['no range', { report: [totals({})] }, 'report[0].request.from'],
    ['a range without an end', { report: [totals({ from: '2026-11-01' })] }, 'report[0].request.to'],
    [
      'a range that ends before it begins',
      { report: [totals({ from: '2026-11-02', to: '2026-11-01' })] },
      'report[0].request.to',
    ],
    [
      'a time instead of a day, moving by days',
      { moving: 'day', report: [totals({ from: 5 })] },
      'report[0].request.from',
    ],
    [
      'a day that is not the first of a month, moving by months',
      { moving: 'month', report: [totals({ from: '2026-11-02' })] },
      'report[0].request.from',
    ],
    [
      'hours over six years',
      { report: [totals({ from: '2020-11-01', to: '2026-11-01', interval: 'hour' })] },
      'report[0].request.interval',
    ],
    [
      'too many weeks in a retention report',
      { report: [{ part: 'a', operation: 'reportRetention', request: { from: '2020-01-01', to: '2026-01-01' } }] },
      'report[0].request.interval',
    ],
    [
      'weekdays over more than a hundred years',
      {
        report: [
          totals(),
          { part: 'a', operation: 'reportBreakdown', request: { from: '1700-01-01', to: '2000-01-01', by: 'weekday' } },
        ],
      },
      'report[1].request.by',
    ],
    [
      'a range compared with one before 1970',
      { report: [totals({ from: '1970-01-03', to: '1971-01-01', compare: 'year' })] },
      'report[0].request.compare',
    ],
    [
      'many conditions on people',
      {
        report: [
          {
            part: 'a',
            operation: 'reportFunnel',
            request: {
              ...november,
              step: Array.from({ length: 5 }, () => ({ and: Array(5).fill({ did: { event: 1 } }) })),
            },
          },
        ],
      },
      'report[0].request.filter',
    ],
    [
      'a moving day that has too many hours by its end',
      { moving: 'day', report: [totals({ from: '2026-10-14', interval: 'hour' })] },
      'report[0].request.interval',
    ],
    [
      'a moving month that has too many hours by its end',
      { moving: 'month', report: [totals({ from: '2026-10-01', interval: 'hour' })] },
      'report[0].request.interval',
    ],
    [
      'a moving range that spans one week too many on some days',
      {
        moving: 'day',
        report: [
          {
            part: 'a',
            operation: 'reportRetention',
            request: { from: '2024-10-28', to: '2026-09-28', interval: 'week' },
          },
        ],
      },
      'report[0].request.interval',
    ],
    [
      'an invalid filter',
      { report: [totals({ ...november, filter: { event: {} } })] },
      'report[0].request.filter.event',
    ],
    ...['contactTagID', 'contactProfileID', 'event,contactTagID'].map((by): [string, Fields, string] => [
      `groups by ${by}`,
      { report: [{ part: 'a', operation: 'reportBreakdown', request: { ...november, by } }] },
      'report[0].request.by',
    ]),
    [
      'many rows',
      { report: [{ part: 'a', operation: 'reportBreakdown', request: { ...november, by: 'event', limit: 101 } }] },
      'report[0].request.limit',
    ],
  ])('with %s is refused, and the error names the field', async (_, fields, field) => {
    const [status, , at] = await problemOf(fields);
    expect([status, at]).toEqual([400, field]);
  });

  it('is refused with the same errors as its reports', async () => {
    const request = { from: '2020-11-01', to: '2026-11-01', interval: 'hour' };
    const direct = await scene.get('/report/reportTotals', { tokenUUID: scene.tokens.viewer, ...request });
    const { body } = await create({ report: [totals(request)] });
    expect(body.error).toEqual({ ...direct.body.error, field: `report[0].request.${direct.body.error.field}` });
    expect(reports.requests).toEqual([]);
  });

  it('can have at most 64 KiB of reports', async () => {
    const values = Array.from({ length: 100 }, (_, nth) => `${nth}`.padEnd(90, 'x'));
    const big = (part: string) => ({ ...totals({ ...november, filter: { attrID: 'a', is: values } }), part });
    expect((await create({ report: ['a', 'b', 'c'].map(big) })).status).toBe(200);
    // The filters of these segments make the reports larger than the request.
    for (const segmentName of ['Big', 'Bigger']) {
      const filter = { attrID: 'a', is: values.map((value) => value.padEnd(140, 'y')) };
      await scene.post('/report/createSegment', { tokenUUID: scene.tokens.server, segmentName, filter });
    }
    const segmented = Array.from({ length: 12 }, (_, nth) => ({
      ...totals({ ...november, filter: { segment: 'Big' } }),
      part: `p${nth}`,
    }));
    expect(await problemOf({ report: segmented })).toEqual([400, 'invalid_field', 'report']);
  });

  it('is created, listed and revoked only by editors and owners', async () => {
    const { shareID } = (await create()).body;
    for (const kind of ['browser', 'viewer', 'operator'] as const) {
      const tokenUUID = scene.tokens[kind];
      expect((await create({}, tokenUUID)).body.error.code).toBe('token_kind');
      expect((await scene.get('/report/listShareLinks', { tokenUUID })).body.error.code).toBe('token_kind');
      expect((await scene.post('/report/revokeShareLink', { tokenUUID, shareID })).body.error.code).toBe('token_kind');
    }
    expect((await list()).map((link) => link.shareID)).toContain(shareID);
    expect(limits.shareLinksPerAccount).toBe(100);
  });
});
