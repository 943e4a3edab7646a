import { expect, it } from 'vitest';
import { computeMaxConnections } from './max-connections.ts';

it.each([
  [1_024, 960],
  [100, 50],
  [1_000_000, 20_000],
])('with a limit of %i open files, allows %i connections', (files, connections) => {
  expect(computeMaxConnections(files)).toBe(connections);
});

it('reads the open file limit from the system', () => {
  expect(computeMaxConnections()).toBeGreaterThan(10);
});
