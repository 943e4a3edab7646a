/** A token that expires stops working on every path, and so does what rests on it. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createProof, keyOf } from './fixtures/proof.ts';
import { newAddress, newUserUUID } from './fixtures/requests.ts';
import { openScene, type Scene } from './fixtures/scene.ts';

let scene: Scene;
let time: number;
beforeEach(async () => {
  time = Date.now();
  scene = await openScene({ now: () => time });
});
afterEach(() => scene.close());

/** Time passes, and with it the turn of the event loop for which a token that was found counts. */
const pass = async (milliseconds: number) => {
  time += milliseconds;
  await new Promise((resolve) => setImmediate(resolve));
};

const make = async (tokenKind: string, expiresTime: string | number) =>
  scene.post('/account/createToken', { tokenUUID: scene.tokens.server, tokenKind, expiresTime });

it('is 401 like a revoked one from its time on, and is listed with it', async () => {
  const expiresTime = new Date(time + 1_000).toISOString();
  const made = await make('viewer', expiresTime);
  expect(made.body).toMatchObject({ tokenKind: 'viewer', expiresTime });
  const read = () => scene.get('/event/getEvent', { tokenUUID: made.body.tokenUUID });
  expect((await read()).status).toBe(200);
  await pass(999);
  expect((await read()).status).toBe(200);
  await pass(1);
  const late = await read();
  expect([late.status, late.body.error.code]).toEqual([401, 'invalid_token']);
  const { body } = await scene.get('/account/getAccount', { tokenUUID: scene.tokens.server });
  const { tokenID: createdBy } = body.account.token.find(
    ({ tokenKind }: { tokenKind: string }) => tokenKind === 'server',
  );
  expect(body.account.token).toContainEqual(
    expect.objectContaining({ tokenID: made.body.tokenID, createdBy, expiresTime }),
  );
});

it.each([
  ['the past', -1],
  ['now', 0],
])('must not lie in %s', async (_, ahead) => {
  const { status, body } = await make('server', time + ahead);
  expect([status, body.error.code, body.error.field]).toEqual([400, 'invalid_field', 'expiresTime']);
});

it('makes no tokens and vouches for nobody once it has expired', async () => {
  const made = await make('server', time + 1_000);
  const { tokenUUID } = made.body;
  const vouched = () => {
    const userUUID = newUserUUID();
    const contactEmailaddress = newAddress();
    const said = { browserToken: scene.tokens.browser, address: contactEmailaddress, userUUID };
    const contactProof = createProof(said, keyOf(tokenUUID), Math.floor(time / 1_000));
    const fields = { userUUID, contactEmailaddress, contactProfileID: 'customer', contactProof };
    return scene.post('/createContact', { tokenUUID: scene.tokens.browser, ...fields });
  };
  expect((await vouched()).status).toBe(200);
  await pass(1_000);
  const late = await vouched();
  expect([late.status, late.body.error.field]).toEqual([400, 'contactProof']);
  expect((await scene.post('/account/createToken', { tokenUUID, tokenKind: 'server' })).status).toBe(401);
});

it('ends the streams that were opened with it', async () => {
  const { body } = await make('viewer', Date.now() + 1_500);
  const response = await scene.app.request(`/event/streamEvents?tokenUUID=${body.tokenUUID}`);
  expect(response.status).toBe(200);
  expect(await response.text()).toMatch(/^id: .+\n\n$/);
});
