import { expect, it } from 'vitest';
import { mostConnections } from './most-connections.ts';

it.each([
  [1_024, 960],
  [100, 50],
  [1_000_000, 20_000],
])('of %i files that may be open, leaves %i to connections', (files, connections) => {
  expect(mostConnections(files)).toBe(connections);
});

it('asks the system how many files may be open', () => {
  expect(mostConnections()).toBeGreaterThan(10);
});
