/** Hostile messages to Segment's HTTP API: none causes a fault, reaches another account, or gets an error response. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newUserUUID } from '../../fixtures/requests.ts';
import { openScene, type Scene } from '../../fixtures/scene.ts';
import { times } from '../../tools/counts.ts';

const count = times({ quick: 1_000, full: 100_000 });
const perBatch = 20;

let scene: Scene;
let account: string;
beforeAll(async () => {
  scene = await openScene({ segmentPath: '/v1/' });
  const fields = { tokenUUID: scene.tokens.operator, accountName: 'Other' };
  account = (await scene.post('/account/createAccount', fields)).body.serverTokenUUID;
});
afterAll(() => scene.close());

const names = [
  ...['type', 'event', 'name', 'anonymousId', 'userId', 'previousId', 'groupId', 'messageId'],
  ...['timestamp', 'originalTimestamp', 'properties', 'traits', 'context', 'integrations'],
];
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom('__proto__', 'constructor', '\u0000', 'x'.repeat(40_000), 1e308, '1970-01-01', 'null'),
  fc.dictionary(
    fc.constantFrom('page', 'campaign', 'userAgent', 'ip', 'library', 'email', 'name', 'path'),
    fc.jsonValue(),
  ),
);
const message = fc.record({
  type: fc.constantFrom('track', 'identify', 'page', 'screen', 'group', 'alias'),
  fields: fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 6 }),
});

test('responds with 200 to any messages, and stores nothing in another account', async () => {
  for (let sent = 0; sent < count; sent += perBatch) {
    const batch = fc.sample(message, { numRuns: perBatch, seed: sent }).map(({ type, fields }) => ({
      ...{ type, event: 'Bought', userId: 'customer-1', anonymousId: newUserUUID() },
      ...Object.fromEntries(fields),
    }));
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
