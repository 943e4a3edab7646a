import { expect, test } from 'vitest';
import { parseCalls } from './tracing.ts';

const log = `7 pwrite64(19</d/a.db-wal>, "\\x00", 1, 0) = 1
8 write(22<socket:[1]>, "\\x48"... <unfinished ...>
7 fsync(19</d/a.db-wal> <unfinished ...>
8 <... write resumed>, 1) = 1
7 <... fsync resumed>) = 0
7 pwrite64(19</d/a.db-wal>, "\\x00", 1, 1 <detached ...>
8 fsync(19</d/a.db-wal> <detached ...>
9 write(23<socket:[2]>, "\\x48" <unfinished ...>
9 +++ killed by SIGKILL +++`;

test('reports a call as unfinished if strace was detached or the process ended during the call', () => {
  const ended = parseCalls(log).filter((call) => call.ended !== Number.POSITIVE_INFINITY);
  expect(ended.map(({ text }) => text)).toEqual([
    'pwrite64(19</d/a.db-wal>, "\\x00", 1, 0) = 1',
    'write(22<socket:[1]>, "\\x48"..., 1) = 1',
    'fsync(19</d/a.db-wal>) = 0',
    '+++ killed by SIGKILL +++',
  ]);
});

test('includes unfinished calls, which the kernel might have completed', () => {
  const unfinished = parseCalls(log).filter((call) => call.ended === Number.POSITIVE_INFINITY);
  expect(unfinished).toEqual([
    { thread: '7', text: 'pwrite64(19</d/a.db-wal>, "\\x00", 1, 1', began: 5, ended: Number.POSITIVE_INFINITY },
    { thread: '8', text: 'fsync(19</d/a.db-wal>', began: 6, ended: Number.POSITIVE_INFINITY },
    { thread: '9', text: 'write(23<socket:[2]>, "\\x48"', began: 7, ended: Number.POSITIVE_INFINITY },
  ]);
});
