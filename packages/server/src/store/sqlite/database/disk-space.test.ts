import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/fixtures/command.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { fromPlain, toPlain } from '../threads/messages.ts';
import { createFileRoom } from './disk-space.ts';

const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
const busy = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
const unavailable = (cause: Error) => new Refusal('unavailable', { retryAfterSeconds: 5, cause });

it('the cause of a refusal comes from the other thread along with it', () => {
  const call = { name: 'logEvents', request: undefined };
  const plain = structuredClone(toPlain(call, { error: unavailable(full) }));
  expect(fromPlain(call, plain)).toMatchObject({ error: { code: 'unavailable', cause: { code: 'SQLITE_FULL' } } });
});

it('looks for room at first, and after a write has found none, until there is some', async () => {
  const folder = temporaryFolder();
  const there = join(folder, 'there');
  const room = createFileRoom(join(there, 'firsthand.db'));
  // As after a restart on a full disk.
  await expect(room.check()).rejects.toThrow();
  mkdirSync(there);
  await room.check();
  rmSync(there, { recursive: true });
  room.noteFailure(unavailable(busy));
  await room.check();
  room.noteFailure(unavailable(full));
  await expect(room.check()).rejects.toThrow();
  await expect(room.check()).rejects.toThrow();

  const found = createFileRoom(join(folder, 'firsthand.db'));
  found.noteFailure(unavailable(full));
  await found.check();
  rmSync(folder, { recursive: true });
  await found.check();
});
