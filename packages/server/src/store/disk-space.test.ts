import { expect, it } from 'vitest';
import { Refusal } from '../shared/refusal.ts';
import { createRoom } from './disk-space.ts';

it('looks once for all who ask at the same time, however many they are, and again when asked later', async () => {
  let looks = 0;
  let isThereRoom = false;
  const room = createRoom(
    () => true,
    async () => {
      looks += 1;
      await new Promise(setImmediate);
      if (!isThereRoom) throw new Error('the disk is full');
    },
  );
  await room.check();
  expect(looks).toBe(0);
  room.noteFailure(new Refusal('unavailable', { cause: new Error('the disk is full') }));
  for (const asked of [100, 200]) {
    looks = 0;
    const checks = await Promise.allSettled(Array.from({ length: asked }, () => room.check()));
    expect(checks.every(({ status }) => status === 'rejected')).toBe(true);
    expect(looks).toBe(1);
  }
  isThereRoom = true;
  await room.check();
  looks = 0;
  await room.check();
  expect(looks).toBe(0);
});
