/** Tests that an expired token stops working on every path, and so does everything that depends on the token. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createProof, toProofKey } from './fixtures/proof.ts';
import { newAddress, newUserUUID } from './fixtures/requests.ts';
import { openScene, type Scene } from './fixtures/scene.ts';

let scene: Scene;
let time: number;
beforeEach(async () => {
  time = Date.now();
  scene = await openScene({ now: () => time });
});
afterEach(() => scene.close());

/** Advances the clock, and ends the event-loop turn for which the server caches token lookups. */
const advance = async (milliseconds: number) => {
  time += milliseconds;
  await new Promise((resolve) => setImmediate(resolve));
};

const createToken = async (tokenKind: string, expiresTime: string | number) =>
  scene.post('/account/createToken', { tokenUUID: scene.tokens.server, tokenKind, expiresTime });

it('rejects a token with 401 from its expiry time on, and lists that time', async () => {
  const expiresTime = new Date(time + 1_000).toISOString();
  const created = await createToken('viewer', expiresTime);
  expect(created.body).toMatchObject({ tokenKind: 'viewer', expiresTime });
  const read = () => scene.get('/event/getEvent', { tokenUUID: created.body.tokenUUID });
  expect((await read()).status).toBe(200);
  await advance(999);
  expect((await read()).status).toBe(200);
  await advance(1);
  const late = await read();
  expect([late.status, late.body.error.code]).toEqual([401, 'invalid_token']);
  const { body } = await scene.get('/account/getAccount', { tokenUUID: scene.tokens.server });
  const { tokenID: createdBy } = body.account.token.find(
    ({ tokenKind }: { tokenKind: string }) => tokenKind === 'server',
  );
  expect(body.account.token).toContainEqual(
    expect.objectContaining({ tokenID: created.body.tokenID, createdBy, expiresTime }),
  );
});

it.each([
  ['in the past', -1],
  ['now', 0],
])('rejects an expiry time that is %s', async (_, ahead) => {
  const { status, body } = await createToken('server', time + ahead);
  expect([status, body.error.code, body.error.field]).toEqual([400, 'invalid_field', 'expiresTime']);
});

it('rejects new tokens and proofs that are made with an expired token', async () => {
  const created = await createToken('server', time + 1_000);
  const { tokenUUID } = created.body;
  const createWithProof = () => {
    const userUUID = newUserUUID();
    const contactEmailaddress = newAddress();
    const claim = { browserToken: scene.tokens.browser, address: contactEmailaddress, userUUID };
    const contactProof = createProof(claim, toProofKey(tokenUUID), Math.floor(time / 1_000));
    const fields = { userUUID, contactEmailaddress, contactProfileID: 'customer', contactProof };
    return scene.post('/createContact', { tokenUUID: scene.tokens.browser, ...fields });
  };
  expect((await createWithProof()).status).toBe(200);
  await advance(1_000);
  const late = await createWithProof();
  expect([late.status, late.body.error.field]).toEqual([400, 'contactProof']);
  expect((await scene.post('/account/createToken', { tokenUUID, tokenKind: 'server' })).status).toBe(401);
});

it('ends a token’s streams when it expires', async () => {
  const { body } = await createToken('viewer', Date.now() + 1_500);
  const response = await scene.app.request(`/event/streamEvents?tokenUUID=${body.tokenUUID}`);
  expect(response.status).toBe(200);
  expect(await response.text()).toMatch(/^id: .+\n\n$/);
});
