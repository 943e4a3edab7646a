/** The client that is generated from the OpenAPI document (contract/check/) does what the manual's examples do. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openScene, type Scene } from './fixtures/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

it('a generated client sends the manual’s examples, and each is accepted', async () => {
  // By its path: the types that it imports are generated, so only check.ts compiles it.
  const path = new URL('../../contract/check/manual-examples.ts', import.meta.url).href;
  const { runExamples } = await import(path);
  const told = await runExamples({
    url: 'http://localhost',
    fetch: async (request: Request) => scene.app.request(request),
    tokens: scene.tokens,
  });
  expect(told).toEqual({
    names: ['2', '1', '5', '3'],
    code: 'unknown_user',
    firstname: 'Ann',
    timezone: 'UTC',
    audited: 1,
  });
});
