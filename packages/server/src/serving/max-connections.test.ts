import { expect, it } from 'vitest';
import { defaultMaxConnections } from './max-connections.ts';

it.each([
  [1_024, 960],
  [100, 50],
  [1_000_000, 20_000],
])('of %i files that may be open, leaves %i to connections', (files, connections) => {
  expect(defaultMaxConnections(files)).toBe(connections);
});

it('asks the system how many files may be open', () => {
  expect(defaultMaxConnections()).toBeGreaterThan(10);
});
