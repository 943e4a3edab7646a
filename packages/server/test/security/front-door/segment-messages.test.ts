/**
 * Tests hostile messages to Segment's HTTP API: none causes an internal error, affects another account, or gets an
 * error response.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openScene, type Scene } from '../../fixtures/scene.ts';
import { times } from '../../tools/counts.ts';
import { createHostileMessages } from '../tools/hostile-messages.ts';

const count = times({ quick: 1_000, full: 20_000 });
const perBatch = 20;

let scene: Scene;
let account: string;
beforeAll(async () => {
  scene = await openScene({ segmentPath: '/v1/' });
  const fields = { tokenUUID: scene.tokens.operator, accountName: 'Other' };
  account = (await scene.post('/account/createAccount', fields)).body.serverTokenUUID;
});
afterAll(() => scene.close());

test('responds with 200 to any messages, and stores nothing in another account', async () => {
  for (let sent = 0; sent < count; sent += perBatch) {
    const batch = createHostileMessages(perBatch, sent);
    for (const token of [scene.tokens.browser, scene.tokens.server]) {
      const { body } = await scene.post('/v1/batch', { batch }, { Authorization: `Bearer ${token}` });
      expect(body).toEqual({ success: true });
    }
  }
  expect(scene.logged()).not.toContain('"level":50');
  for (const path of ['/event/getEvent', '/contact/searchContact', '/account/listRefused']) {
    const { body } = await scene.get(path, { tokenUUID: account });
    expect(body.event ?? body.contact ?? body.refused).toEqual([]);
  }
});
