import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFakeReports } from '../../../test/fixtures/reports/fake-reports.ts';
import { type Fields, openScene, type Scene, toStrings } from '../../../test/fixtures/scene.ts';
import type { ReportQuery, ResultOf } from '../../reports/queries.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Store } from '../../store/store.ts';

let scene: Scene;
let searches = 0;
let beforeSearch: (nth: number) => Promise<void> | void = () => {};
let computeResult: (query: ReportQuery) => Promise<ResultOf<ReportQuery> | undefined> = async () => undefined;
const countSearches = (store: Store): Store => ({
  ...store,
  searchContact: async (query) => {
    searches += 1;
    await beforeSearch(searches);
    return store.searchContact(query);
  },
});
const count = 2_300;
beforeAll(async () => {
  scene = await openScene({ wrap: countSearches, reports: createFakeReports((query) => computeResult(query)) });
  for (let from = 0; from < count; from += 1_000) {
    const numbers = Array.from({ length: Math.min(1_000, count - from) }, (_, nth) => from + nth);
    const { body } = await scene.post('/contact/createContacts', {
      tokenUUID: scene.tokens.server,
      contact: numbers.map((nth) => ({
        contactProfileID: 'customer',
        contactExternalID: `customer-${nth}`,
        contactFirstname: nth === 0 ? '=HYPERLINK("http://evil.example")' : `Ann ${nth}`,
        ...(nth === 1 && {
          contactTagID: 'vip,beta',
          contactAttr: [
            { attrID: 'plan', attrValue: 'a "pro", perhaps' },
            { attrID: 'age', attrValue: '9' },
          ],
        }),
      })),
    });
    expect(body.contact).not.toContainEqual(expect.objectContaining({ status: '400' }));
  }
});
afterAll(() => scene.close());

const request = (path: string, fields: Fields = {}, init: RequestInit = {}) =>
  scene.app.request(`${path}?${new URLSearchParams(toStrings(fields))}`, {
    headers: { Accept: 'text/csv', Authorization: `Bearer ${scene.tokens.server}` },
    ...init,
  });
const linesOf = async (path: string, fields?: Fields) => {
  const response = await request(path, fields);
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/csv; charset=utf-8; header=present',
  ]);
  return (await response.text()).split('\r\n').slice(0, -1);
};

it('sends the contacts from all pages, with attributes as columns', async () => {
  const [head = '', ...rows] = await linesOf('/contact/searchContact');
  expect(head).toContain('contactUUID,contactExternalID,');
  expect(head).toMatch(/,tag,contactAttr\.age,contactAttr\.plan,contactAttr,.*lastSeenTime$/);
  expect(rows).toHaveLength(count);
  expect(new Set(rows).size).toBe(count);
  expect(rows[1]).toMatch(/,beta; vip,9,"a ""pro"", perhaps",,/);
});

it('sends the same rows as NDJSON, unchanged', async () => {
  const headers = { Accept: 'application/x-ndjson', Authorization: `Bearer ${scene.tokens.server}` };
  const response = await request('/contact/searchContact', {}, { headers });
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
  const lines = (await response.text()).split('\n');
  expect(lines.pop()).toBe('');
  expect(lines).toHaveLength(count);
  const { body } = await scene.get('/contact/searchContact', { tokenUUID: scene.tokens.server, limit: 2 });
  expect(lines.slice(0, 2).map((line) => JSON.parse(line))).toEqual(body.contact);
  expect(body.contact[0].contactFirstname).toBe('=HYPERLINK("http://evil.example")');
  const problem = await request('/contact/searchContact', { limit: 5 }, { headers });
  expect(await problem.json()).toMatchObject({ error: { field: 'limit' } });
});

it('adds the first and last touch of each contact with `include=touch`', async () => {
  computeResult = async (query) => {
    if (query.report !== 'touches') return undefined;
    const [person = 0] = query.contacts;
    const first = { time: 0, values: ['/=1+1', null, null, 'spring'], referrerHost: 'www.google.com' };
    return { people: [{ person, first, last: { ...first, time: 60_000, referrerHost: null } }] };
  };
  const [head, ...rows] = await linesOf('/contact/searchContact', { include: 'touch' });
  expect(head).toMatch(
    /,firstTouch\.eventTime,firstTouch\.path,firstTouch\.utm_source,firstTouch\.utm_medium,firstTouch\.utm_campaign,firstTouch\.referrerHost,lastTouch\./,
  );
  expect(rows[0]).toMatch(
    /,1970-01-01T00:00:00.000Z,\/=1\+1,,,spring,www.google.com,1970-01-01T00:01:00.000Z,\/=1\+1,,,spring,$/,
  );
  expect(rows[1]).toMatch(/,{12}$/);
});

it('sends a segment’s contacts, newest event first, without people who are not contacts', async () => {
  const filter = { event: 'Bought' };
  await scene.post('/report/createSegment', { tokenUUID: scene.tokens.server, segmentName: 'Buyers', filter });
  computeResult = async (query) => {
    if (query.report !== 'people') return undefined;
    const person = { events: 3, users: 1, firstTime: 1, lastTime: 2 };
    const numbers = query.beyond ? [1, 1_000_000] : [3, -7, 2];
    return {
      people: numbers.map((number) => ({ ...person, person: number })),
      next: query.beyond ? null : { key: 2, person: 2 },
    };
  };
  const [, ...rows] = await linesOf('/contact/searchContact', { segment: 'Buyers', contactProfileID: 'customer' });
  expect(rows.map((row) => row.split(',')[1])).toEqual(['customer-2', 'customer-1', 'customer-0']);
  expect(await linesOf('/contact/searchContact', { segment: 'Buyers', contactTagID: 'vip' })).toHaveLength(2);
  for (const [fields, code] of [
    [{ segment: 'Sellers' }, 'unknown_segment'],
    [{ segment: 'Buyers', sort: 'seen' }, 'invalid_field'],
    [{ segment: 'Buyers', contactExternalID: 'customer-1' }, 'invalid_field'],
  ] as const)
    expect(await (await request('/contact/searchContact', fields)).json()).toMatchObject({ error: { code } });
});

it('applies the operation’s filters, and escapes formulas', async () => {
  const [, ...rows] = await linesOf('/contact/searchContact', { contactExternalID: 'customer-0' });
  expect(rows).toHaveLength(1);
  expect(rows[0]).toContain(`,"'=HYPERLINK(""http://evil.example"")",`);
});

it('reads a page only after the client has read the previous page, and stops when the client disconnects', async () => {
  searches = 0;
  const response = await request('/contact/searchContact');
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.read();
  expect(searches).toBe(1);
  await reader?.read();
  expect(searches).toBe(2);
  await reader?.cancel();
  expect(searches).toBe(2);
});

it('fails the response if a later page fails or the token is revoked', async () => {
  const fail = async (fails: () => Promise<void> | void, token = scene.tokens.server) => {
    searches = 0;
    beforeSearch = (nth) => (nth === 2 ? fails() : undefined);
    const headers = { Accept: 'text/csv', Authorization: `Bearer ${token}` };
    const response = await request('/contact/searchContact', {}, { headers });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  };
  await fail(() => Promise.reject(new Error('the disk is gone')));
  expect(scene.logged()).toContain('the disk is gone');
  const { body } = await scene.post('/account/createToken', { tokenUUID: scene.tokens.server, tokenKind: 'viewer' });
  const revoke = () => scene.post('/account/revokeToken', { tokenUUID: scene.tokens.server, tokenID: body.tokenID });
  await fail(async () => void (await revoke()), body.tokenUUID);
  beforeSearch = () => {};
});

it('refuses fields that would make the file incomplete, and invalid requests, in JSON', async () => {
  const problemOf = async (fields: Fields, init?: RequestInit) => {
    const response = await request('/contact/searchContact', fields, init);
    const { error } = (await response.json()) as { error: { code: string; field: string } };
    return [response.status, error.code, error.field];
  };
  expect(await problemOf({ limit: 5 })).toEqual([400, 'invalid_field', 'limit']);
  expect(await problemOf({ contactStatus: 'asleep' })).toEqual([400, 'invalid_field', 'contactStatus']);
  const asPage = { Accept: 'text/csv', Authorization: `Bearer ${scene.tokens.browser}` };
  expect(await problemOf({}, { headers: asPage })).toEqual([403, 'token_kind', undefined]);
  expect((await request('/contact/searchContact', {}, { method: 'HEAD' })).body).toBeNull();
});

it('limits an account’s concurrent CSV downloads', async () => {
  const open = await Promise.all(Array.from({ length: 10 }, () => request('/contact/searchContact')));
  expect((await request('/contact/searchContact')).status).toBe(429);
  for (const { body } of open) await body?.cancel();
  expect((await request('/contact/searchContact', { contactExternalID: 'customer-1' })).status).toBe(200);
});

it('sends events, audit entries and refused requests', async () => {
  const { server } = scene.tokens;
  const eventAttrArray = [{ attrID: 'path', attrValue: '/tea' }];
  await scene.post('/event/logEvent', {
    tokenUUID: server,
    eventID: 3,
    userUUID: 'a-browser-of-a-test',
    eventAttrArray,
  });
  await scene.post('/event/logEvent', { tokenUUID: server, eventID: 'three', userUUID: 'a-browser-of-a-test' });
  const [events, event = ''] = await linesOf('/event/getEvent');
  expect(events).toBe(
    'eventUUID,eventID,eventName,eventTime,receivedTime,eventTimeReplaced,userUUID,contactUUID,eventAttrArray',
  );
  expect(event).toMatch(/,a-browser-of-a-test,,"\{""path"":""\/tea""\}"$/);
  const [audit, ...entries] = await linesOf('/account/listAudit', { action: 'createToken' });
  expect(audit).toBe('auditID,auditTime,actor,memberID,action,subject');
  expect(entries.length).toBeGreaterThan(2);
  const [refused, problem = ''] = await linesOf('/account/listRefused');
  expect(refused).toContain(',problem.code,problem.message,problem.field,request');
  expect(problem).toContain(',invalid_field,');
});

it('sends the people in a report page by page, and retries while the engine is busy', async () => {
  const { body } = await scene.get('/contact/getContact', {
    tokenUUID: scene.tokens.server,
    contactExternalID: 'customer-1',
  });
  expect(body.contact.contactFirstname).toBe('Ann 1');
  let runs = 0;
  computeResult = async (query) => {
    if (query.report !== 'people') return undefined;
    runs += 1;
    if (runs === 2) throw new Refusal('no_reports');
    const person = { person: query.beyond ? 2 : 1, events: 3, users: 1, firstTime: 1, lastTime: 2 };
    return { people: [person], next: query.beyond ? null : { key: 2, person: 1 } };
  };
  const [head, ...rows] = await linesOf('/report/reportPeople', { from: '2026-11-01' });
  expect(head).toContain('contactUUID,contactExternalID,contactFirstname');
  expect([rows.length, runs]).toEqual([2, 3]);
});

it('sends a breakdown with a column for each dimension, and refuses one with too many rows', async () => {
  let others: (ResultOf<ReportQuery> & { others: unknown })['others'] = null;
  const counts = { events: 4, users: 3, people: 2, sessions: 1 };
  computeResult = async (query) => {
    if (query.report !== 'breakdown') return undefined;
    expect(query.limit).toBe(100_000);
    return { total: counts, rows: [{ values: ['/tea', null], ...counts }], others } as ResultOf<ReportQuery>;
  };
  const fields = { from: '2026-11-01', by: 'attr:path,attr:plan' };
  expect(await linesOf('/report/reportBreakdown', fields)).toEqual([
    'attr:path,attr:plan,events,users,people,sessions',
    '/tea,,4,3,2,1',
  ]);
  others = { groups: 5, ...counts };
  expect((await request('/report/reportBreakdown', fields)).status).toBe(400);
});
