/** Runs the manual's examples with the client that is generated from the OpenAPI document (contract/check/). */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openScene, type Scene } from './fixtures/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

it('accepts the manual’s examples from a generated client', async () => {
  // Computes the path, because the file imports generated types that only check.ts compiles.
  const path = new URL('../../contract/check/manual-examples.ts', import.meta.url).href;
  const { runExamples } = await import(path);
  const results = await runExamples({
    url: 'http://localhost',
    fetch: async (request: Request) => scene.app.request(request),
    tokens: scene.tokens,
  });
  expect(results).toEqual({
    names: ['2', '1', '5', '3'],
    code: 'unknown_user',
    firstname: 'Ann',
    timezone: 'UTC',
    audited: 1,
  });
});
