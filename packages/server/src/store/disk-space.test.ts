import { expect, it } from 'vitest';
import { Refusal } from '../shared/refusal.ts';
import { createDiskSpaceCheck } from './disk-space.ts';

it('shares one disk probe among concurrent checks, and probes again later', async () => {
  let probes = 0;
  let hasSpace = false;
  const diskSpace = createDiskSpaceCheck(
    () => true,
    async () => {
      probes += 1;
      await new Promise(setImmediate);
      if (!hasSpace) throw new Error('the disk is full');
    },
  );
  await diskSpace.check();
  expect(probes).toBe(0);
  diskSpace.noteFailure(new Refusal('unavailable', { cause: new Error('the disk is full') }));
  for (const length of [100, 200]) {
    probes = 0;
    const checks = await Promise.allSettled(Array.from({ length }, () => diskSpace.check()));
    expect(checks.every(({ status }) => status === 'rejected')).toBe(true);
    expect(probes).toBe(1);
  }
  hasSpace = true;
  await diskSpace.check();
  probes = 0;
  await diskSpace.check();
  expect(probes).toBe(0);
});
