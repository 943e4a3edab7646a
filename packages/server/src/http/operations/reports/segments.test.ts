import { limits } from '@firsthand/contract/limits';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createFakeReports, type FakeReports } from '../../../../test/fixtures/reports/fake-reports.ts';
import { type Fields, openScene, type Scene } from '../../../../test/fixtures/scene.ts';

let time = Date.parse('2026-11-24T12:00Z');
let reports: FakeReports;
let scene: Scene;
beforeAll(async () => {
  reports = createFakeReports();
  scene = await openScene({ reports, now: () => time });
  const event = [{ eventID: 9, eventName: 'Paid' }];
  await scene.post('/account/updateAccount', { tokenUUID: scene.tokens.server, event });
});
beforeEach(() => {
  reports.requests.length = 0;
});
afterAll(() => scene.close());

const create = (segmentName: string, filter: unknown, { post, tokens } = scene) =>
  post('/report/createSegment', { tokenUUID: tokens.server, segmentName, filter });
const list = async ({ get, tokens } = scene) =>
  (await get('/report/listSegments', { tokenUUID: tokens.viewer })).body.segment;
const deleteSegment = (segmentName: string) =>
  scene.post('/report/deleteSegment', { tokenUUID: scene.tokens.server, segmentName });
const ask = (name: string, fields: Fields) =>
  scene.get(`/report/${name}`, { tokenUUID: scene.tokens.viewer, from: '2026-11-01', ...fields });
const queriesOf = async (name: string, fields: Fields) => {
  const { status, body } = await ask(name, fields);
  expect([status, body.error]).toEqual([200, undefined]);
  return reports.requests.splice(0).map(({ query }) => query);
};

describe('a segment', () => {
  it('is saved, replaced, listed as sent, and deleted', async () => {
    const filter = { and: [{ event: 'Paid' }, { attrID: 'amount', greaterThan: 100 }] };
    const saved = { segmentName: 'Big spenders', replaced: false, status: '200' };
    expect((await create(' Big spenders ', filter)).body).toEqual(saved);
    time += 5;
    const repeated = await create('Big spenders', JSON.stringify(filter));
    expect(repeated.body).toEqual({ ...saved, replaced: true });
    await create('A', { event: 1 });
    const [createdTime, updatedTime] = [time - 5, time].map((at) => new Date(at).toISOString());
    expect(await list()).toEqual([
      { segmentName: 'A', filter: { event: 1 }, createdTime: updatedTime, updatedTime },
      { segmentName: 'Big spenders', filter, createdTime, updatedTime },
    ]);
    expect((await deleteSegment('A')).body).toEqual({ segmentName: 'A', status: '200' });
    expect(await list()).toHaveLength(1);
    const again = await deleteSegment('A');
    expect([again.status, again.body.error.code, again.body.error.field]).toEqual([
      404,
      'unknown_segment',
      'segmentName',
    ]);
  });

  it.each(['browser', 'viewer', 'operator'] as const)('cannot be saved or deleted with a %s token', async (kind) => {
    const before = await list();
    const fields = { tokenUUID: scene.tokens[kind], segmentName: 'Big spenders', filter: { event: 2 } };
    for (const name of ['createSegment', 'deleteSegment']) {
      const { status, body } = await scene.post(`/report/${name}`, fields);
      expect([status, body.error.code]).toEqual([403, 'token_kind']);
    }
    expect(await list()).toEqual(before);
  });

  it('belongs to one account', async () => {
    const other = await openScene({ reports });
    onTestFinished(other.close);
    await create('Shared', { event: 1 });
    expect(await list(other)).toEqual([]);
    const fields = { tokenUUID: other.tokens.server, from: '2026-11-01', filter: { segment: 'Shared' } };
    expect((await other.get('/report/reportTotals', fields)).body.error.code).toBe('unknown_segment');
    await create('Shared', { event: 2 }, other);
    expect(await queriesOf('reportTotals', { filter: { segment: 'Shared' } })).toMatchObject([
      { condition: { eventIDs: [1] } },
    ]);
  });

  it('is limited to 100 per account', async () => {
    const one = await openScene();
    onTestFinished(one.close);
    for (let nth = 0; nth < limits.segmentsPerAccount; nth += 1) await create(`${nth}`, { event: 1 }, one);
    const { status, body } = await create('one more', { event: 1 }, one);
    expect([status, body.error.code, body.error.field]).toEqual([400, 'invalid_field', 'segmentName']);
    expect(body.error.message).toContain('100 segments: delete one with deleteSegment');
    expect((await create('99', { event: 2 }, one)).body.replaced).toBe(true);
    expect(await list(one)).toHaveLength(limits.segmentsPerAccount);
  });
});

describe('a report’s filter', () => {
  const condition = { or: [{ eventIDs: [9] }, { attrID: 'plan', is: ['pro'] }] };
  beforeAll(async () => {
    await create('__proto__', { or: [{ event: 'Paid' }, { attrID: 'plan', is: 'pro' }] });
    await create('VIPs', { contact: { contactTagID: 'vip' } });
    await create('constructor', { did: { event: 'Paid', atLeast: 2 } });
  });
  const segment = { segment: '__proto__' };

  it.each<[name: string, fields: Fields, expected: object]>([
    ['reportTotals', { filter: segment }, { condition }],
    ['reportTotals', { filter: { not: segment }, eventID: 3 }, { condition: { and: [{}, { not: condition }] } }],
    [
      'reportBreakdown',
      { by: 'event', filter: { and: [segment, { event: 1 }] } },
      { condition: { and: [condition, {}] } },
    ],
    ['reportFunnel', { step: [{ event: 1 }, segment] }, { steps: [{ eventIDs: [1] }, condition] }],
    ['reportRetention', { first: segment, back: { not: segment } }, { first: condition, back: { not: condition } }],
    ['reportPeople', { filter: { did: { filter: segment } } }, { condition: { did: condition } }],
    ['reportPeople', { step: [segment, { event: 1 }], reached: 2 }, { of: { steps: [condition, {}] } }],
    ['reportPeople', { first: segment, cohort: 1 }, { of: { first: condition } }],
    ['reportTotals', { filter: { segment: 'VIPs' } }, { condition: { contacts: new Float64Array(0) } }],
    ['reportTotals', { filter: { segment: 'constructor' } }, { condition: { did: { eventIDs: [9] }, atLeast: 2 } }],
  ])('can refer to segments: %s with %j', async (name, fields, expected) => {
    expect(await queriesOf(name, fields)).toMatchObject([expected]);
  });

  it('can refer to segments in reportLive', async () => {
    const fields = { tokenUUID: scene.tokens.viewer, filter: segment };
    expect((await scene.get('/report/reportLive', fields)).status).toBe(200);
    expect(reports.requests).toMatchObject([{ query: { condition } }]);
  });

  it('uses the segment as it is when the report runs', async () => {
    await create('Now', { event: 1 });
    expect(await queriesOf('reportTotals', { filter: { segment: 'Now' } })).toMatchObject([
      { condition: { eventIDs: [1] } },
    ]);
    await create('Now', { event: 2 });
    const compared = await queriesOf('reportTotals', { filter: { segment: 'Now' }, compare: 'previous' });
    expect(compared).toMatchObject([{ condition: { eventIDs: [2] } }, { condition: { eventIDs: [2] } }]);
    await deleteSegment('Now');
    expect((await ask('reportTotals', { filter: { segment: 'Now' } })).status).toBe(404);
  });

  it.each<[name: string, fields: Fields, code: string, field: string]>([
    [
      'reportTotals',
      { filter: { and: [{ event: 1 }, { segment: 'VIP' }] } },
      'unknown_segment',
      'filter.and[1].segment',
    ],
    ['reportFunnel', { step: [{ event: 1 }, { segment: 'toString' }] }, 'unknown_segment', 'step[1].segment'],
    ['reportRetention', { back: { segment: 'VIP' } }, 'unknown_segment', 'back.segment'],
    [
      'reportPeople',
      { filter: { did: { filter: { segment: 'VIP' } } } },
      'unknown_segment',
      'filter.did.filter.segment',
    ],
    [
      'reportTotals',
      { filter: { did: { filter: { segment: 'constructor' } } } },
      'invalid_field',
      'filter.did.filter.segment',
    ],
    ['reportTotals', { filter: { segment: 7 } }, 'invalid_field', 'filter.segment'],
  ])('is refused with the segment’s path: %s with %j', async (name, fields, code, field) => {
    const { status, body } = await ask(name, fields);
    expect([status, body.error.code, body.error.field]).toEqual([code === 'unknown_segment' ? 404 : 400, code, field]);
    expect(body.error.message).toContain(`\`${field}\` `);
    expect(reports.requests).toEqual([]);
  });
});
