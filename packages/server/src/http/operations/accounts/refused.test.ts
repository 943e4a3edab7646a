import { afterEach, beforeEach, expect, it } from 'vitest';
import { newAddress, newUserUUID } from '../../../../test/fixtures/requests.ts';
import { type Fields, openScene, type Scene } from '../../../../test/fixtures/scene.ts';

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene.close());

const list = async (fields: Fields = {}) =>
  (await scene.get('/account/listRefused', { tokenUUID: scene.tokens.server, ...fields })).body;
const replay = (refusedID: string, fields: Fields = {}) =>
  scene.post('/account/replayRefused', { tokenUUID: scene.tokens.server, refusedID, ...fields });
const logRefused = async (eventID = 'three') => {
  const fields = { tokenUUID: scene.tokens.browser, userUUID: newUserUUID(), eventID };
  expect((await scene.post('/event/logEvent', fields)).status).toBe(400);
  return fields.userUUID;
};

it('lists a refused request without its token, and replays it once after a correction', async () => {
  const userUUID = await logRefused();
  const { refused, count, nextCursor } = await list();
  expect([count, nextCursor]).toEqual([{ listed: 1, evicted: 0, erased: 0, replayed: 0 }, '']);
  expect(refused).toEqual([
    {
      ...{ refusedID: expect.stringMatching(/^\d+$/), refusedTime: expect.any(String), operation: 'logEvent' },
      ...{ tokenID: expect.any(String), tokenKind: 'browser', robot: false },
      problem: { code: 'invalid_field', field: 'eventID', message: expect.stringMatching('whole number') },
      request: { userUUID, eventID: 'three', eventUUID: expect.any(String) },
    },
  ]);
  const [{ refusedID }] = refused;
  const again = await replay(refusedID);
  expect([again.status, again.body]).toEqual([
    200,
    { refusedID, replayed: false, problem: refused[0].problem, status: '200' },
  ]);
  expect((await replay(refusedID, { fix: { eventID: 3 } })).body).toEqual({ refusedID, replayed: true, status: '200' });
  const { event } = (await scene.get('/event/getEvent', { tokenUUID: scene.tokens.server, userUUID })).body;
  expect(event).toMatchObject([{ eventID: 3 }]);
  expect((await list()).count).toEqual({ listed: 0, evicted: 0, erased: 0, replayed: 1 });
  expect((await replay(refusedID)).body.error.code).toBe('unknown_refused');
  const { audit } = (await scene.get('/account/listAudit', { tokenUUID: scene.tokens.server, limit: 1 })).body;
  expect(audit).toMatchObject([
    { action: 'replayRefused', subject: { refusedID }, actor: expect.not.stringMatching('command') },
  ]);
});

it('discards a refused request once, and counts it as evicted', async () => {
  await logRefused();
  const [{ refusedID }] = (await list()).refused;
  const discard = () => scene.post('/account/discardRefused', { tokenUUID: scene.tokens.server, refusedID });
  expect((await discard()).body).toEqual({ refusedID, status: '200' });
  expect((await list()).count).toEqual({ listed: 0, evicted: 1, erased: 0, replayed: 0 });
  expect((await discard()).body.error.code).toBe('unknown_refused');
  const { audit } = (await scene.get('/account/listAudit', { tokenUUID: scene.tokens.server, limit: 1 })).body;
  expect(audit).toMatchObject([{ action: 'discardRefused', subject: { refusedID } }]);
});

it('lists refused requests page by page', async () => {
  for (let nth = 0; nth < 5; nth += 1) await logRefused();
  const ids: string[] = [];
  let cursor = '';
  do {
    const page = await list({ limit: 2, cursor });
    ids.push(...page.refused.map(({ refusedID }: { refusedID: string }) => refusedID));
    cursor = page.nextCursor;
  } while (cursor !== '');
  expect(new Set(ids).size).toBe(5);
  expect(ids).toEqual(ids.toSorted((a, b) => Number(a) - Number(b)));
});

it('requires another token of the same kind once the request’s own token is revoked', async () => {
  const { server, browser } = scene.tokens;
  await logRefused();
  const [{ refusedID, tokenID }] = (await list()).refused;
  await scene.post('/account/revokeToken', { tokenUUID: server, tokenID });
  const fix = { eventID: 3 };
  expect((await replay(refusedID, { fix })).body).toMatchObject({
    replayed: false,
    problem: { code: 'invalid_token' },
  });
  const created = await scene.post('/account/createToken', { tokenUUID: server, tokenKind: 'browser' });
  expect((await replay(refusedID, { fix, tokenID: created.body.tokenID })).body).toMatchObject({ replayed: true });
  expect(browser).not.toBe(created.body.tokenUUID);
});

it('hides refused requests from other accounts', async () => {
  await logRefused();
  const [{ refusedID }] = (await list()).refused;
  const fields = { tokenUUID: scene.tokens.operator, accountName: 'Blog' };
  const { serverTokenUUID: tokenUUID } = (await scene.post('/account/createAccount', fields)).body;
  expect((await scene.get('/account/listRefused', { tokenUUID })).body.refused).toEqual([]);
  for (const id of [refusedID, '0', '-1', 'x', '999999999999999999'])
    expect((await scene.post('/account/replayRefused', { tokenUUID, refusedID: id })).body.error.code).toBe(
      'unknown_refused',
    );
  expect((await list()).refused).toHaveLength(1);
});

it('replays an unparseable request with a correction that has all required fields', async () => {
  const contactEmailaddress = newAddress();
  const path = `/contact/createContact?tokenUUID=${scene.tokens.server}`;
  await scene.send(path, {
    method: 'POST',
    body: '{"contactEmailaddress":',
    headers: { 'Content-Type': 'application/json' },
  });
  const [{ refusedID, request }] = (await list()).refused;
  expect(request).toBe('{"contactEmailaddress":');
  const fix = { contactEmailaddress, userUUID: newUserUUID(), contactProfileID: 'customer' };
  expect((await replay(refusedID, { fix: 'no object' })).body.error.field).toBe('fix');
  expect((await replay(refusedID, { fix })).body).toMatchObject({ replayed: true });
});
