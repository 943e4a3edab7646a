import { expect, test } from 'vitest';
import { parseCalls } from './tracing.ts';

test('a call that was under way when strace let go is not one that has ended', () => {
  const log = `7 pwrite64(19</d/a.db-wal>, "\\x00", 1, 0) = 1
8 write(22<socket:[1]>, "\\x48"... <unfinished ...>
7 fsync(19</d/a.db-wal> <unfinished ...>
8 <... write resumed>, 1) = 1
7 <... fsync resumed>) = 0
7 pwrite64(19</d/a.db-wal>, "\\x00", 1, 1 <detached ...>
8 fsync(19</d/a.db-wal> <detached ...>`;
  expect(parseCalls(log).map(({ text }) => text)).toEqual([
    'pwrite64(19</d/a.db-wal>, "\\x00", 1, 0) = 1',
    'write(22<socket:[1]>, "\\x48"..., 1) = 1',
    'fsync(19</d/a.db-wal>) = 0',
  ]);
});
