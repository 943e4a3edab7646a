import { expect, test } from 'vitest';
import { createPortFinder } from './ports.ts';

test('finds different ports for two callers in the same process, before they use them', async () => {
  const [one, other] = [createPortFinder(), createPortFinder()];
  const ports = [await one(), await other(), await one(), await other()];
  expect(new Set(ports).size).toBe(4);
});
