import { expect, test } from 'vitest';
import { createPorts } from './ports.ts';

test('two with the same process number get different ports, though neither uses them yet', async () => {
  const [one, other] = [createPorts(), createPorts()];
  const ports = [await one(), await other(), await one(), await other()];
  expect(new Set(ports).size).toBe(4);
});
