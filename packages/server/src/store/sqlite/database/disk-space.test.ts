import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/fixtures/command.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { fromPlain, toPlain } from '../threads/messages.ts';
import { createFileSpaceCheck } from './disk-space.ts';

const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
const busy = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
const unavailable = (cause: Error) => new Refusal('unavailable', { retryAfterSeconds: 5, cause });

it('preserves the cause of a refusal across threads', () => {
  const call = { name: 'logEvents', request: undefined };
  const plain = structuredClone(toPlain(call, { error: unavailable(full) }));
  expect(fromPlain(call, plain)).toMatchObject({ error: { code: 'unavailable', cause: { code: 'SQLITE_FULL' } } });
});

it('probes the disk at first, and again after a write failed for lack of space, until there is space', async () => {
  const folder = temporaryFolder();
  const there = join(folder, 'there');
  const diskSpace = createFileSpaceCheck(join(there, 'firsthand.db'));
  // Simulates a restart on a full disk.
  await expect(diskSpace.check()).rejects.toThrow();
  mkdirSync(there);
  await diskSpace.check();
  rmSync(there, { recursive: true });
  diskSpace.noteFailure(unavailable(busy));
  await diskSpace.check();
  diskSpace.noteFailure(unavailable(full));
  await expect(diskSpace.check()).rejects.toThrow();
  await expect(diskSpace.check()).rejects.toThrow();

  const recovered = createFileSpaceCheck(join(folder, 'firsthand.db'));
  recovered.noteFailure(unavailable(full));
  await recovered.check();
  rmSync(folder, { recursive: true });
  await recovered.check();
});
