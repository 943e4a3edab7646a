/**
 * Checks, without a server, that each weakness still matches the source. The tests that use the weaknesses are in slow
 * tiers.
 */
import { expect, it } from 'vitest';
import { applyChanges } from './tools/weakened-server.ts';
import * as http from './weaknesses/http.ts';
import * as store from './weaknesses/store.ts';

it.each([...Object.entries(http), ...Object.entries(store)])('%s matches the source', (name, weakness) => {
  const changes = typeof weakness === 'function' ? weakness(1) : weakness;
  expect(applyChanges(name, changes).size).toBeGreaterThan(0);
});

it('reports a weakness that no longer matches, with its file and text', () => {
  const file = 'logging/log.ts';
  const failing = (change: { file?: string; from: string; to?: string; times?: number }) => () =>
    applyChanges('weakened', [{ file, to: '', ...change }]);
  expect(failing({ file: 'logs.ts', from: 'scrub' })).toThrow('weakened: there is no src/logs.ts to change "scrub" in');
  expect(failing({ from: 'no such text' })).toThrow(
    'weakened: src/logging/log.ts contains "no such text" 0 times, expected 1',
  );
  expect(failing({ from: 'import', times: 1 })).toThrow(
    /^weakened: src\/logging\/log\.ts contains "import" \d+ times, expected 1$/,
  );
  expect(failing({ from: 'hooks: {', to: 'hooks: {{' })).toThrow(
    /^weakened: src\/logging\/log\.ts cannot be parsed with "hooks: \{\{": .*src\/logging\/log\.ts:\d+/s,
  );
});
