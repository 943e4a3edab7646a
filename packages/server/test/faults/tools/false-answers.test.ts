import { expect, test } from 'vitest';
import { eventsToldIn, findFalseAnswers } from './false-answers.ts';
import { parseCalls } from './tracing.ts';

/** The thread that answers is 10, the one that writes 11. */
const onLog = (call: string) => `11 ${call}(5</data/firsthand.db-wal>`;
const onDatabase = '11 fsync(4</data/firsthand.db>';
const fails = ') = -1 EIO (Input/output error) (INJECTED)';
const quoted = (events: readonly string[]) => events.map((event) => `\\"${event}\\"`).join(',');
const frameOf = (...events: readonly string[]) =>
  `${onLog('pwrite64')}, "\\r\\0[${quoted(events)}]\\0", 4096, 4152) = 4096`;
const synced = `${onLog('fdatasync')}) = 0`;
const failed = onLog('fdatasync') + fails;
const answerOf = (...events: readonly string[]) =>
  `10 writev(21<socket:[7]>, [{iov_base="HTTP/1.1 200 OK\\r\\n\\r\\n[${quoted(events)}]", iov_len=99}], 2) = 99`;

const one = 'event_0000000001';
const two = 'event_0000000002';
const tidied = frameOf();
const answerBegun = answerOf(one).replace('], 2) = 99', '], 2 <unfinished ...>');
const answerEnded = '10 <... writev resumed>) = 99';
const syncBegun = `${onLog('fsync')} <unfinished ...>`;
const syncEnded = '11 <... fsync resumed>) = 0';

const judge = (...lines: readonly string[]) => findFalseAnswers(parseCalls(lines.join('\n'))).length;

test.each<[string, readonly string[]]>([
  ['the commit was synced', [frameOf(one), tidied, synced, answerOf(one)]],
  [
    'the commit was synced, and then a sync of the maintenance fails',
    [frameOf(one), synced, tidied, failed, answerOf(one)],
  ],
  [
    'the commit was synced, and then a sync of another file fails',
    [frameOf(one), synced, onDatabase + fails, answerOf(one)],
  ],
  [
    'the commit was synced, and the maintenance writes its events anew',
    [frameOf(one), synced, frameOf(one), answerOf(one)],
  ],
  ['an event before it lies in the same page', [frameOf(one), synced, frameOf(one, two), synced, answerOf(two)]],
  [
    'standard error can not be synced',
    ['10 fsync(2<socket:[7]>) = -1 EINVAL (Invalid argument)', frameOf(one), synced, answerOf(one)],
  ],
  ['it tells of no event', [failed, answerOf()]],
])('an answer is true when %s', (_, lines) => {
  expect(judge(...lines)).toBe(0);
});

test.each<[string, readonly string[]]>([
  ['nothing was written', [synced, answerOf(one)]],
  ['nothing was synced', [frameOf(one), answerOf(one), synced]],
  ['it begins before the sync has ended', [frameOf(one), syncBegun, answerBegun, syncEnded, answerEnded]],
  [
    'the sync began before the frame was written',
    [syncBegun, frameOf(one).replace('11', '12'), syncEnded, answerOf(one)],
  ],
  ['only another file was synced', [frameOf(one), `${onDatabase}) = 0`, answerOf(one)]],
  ['the write failed', [frameOf(one).replace(/\) = 4096$/, fails), synced, answerOf(one)]],
  ['the sync of the commit fails', [frameOf(one), failed, answerOf(one)]],
  [
    'the maintenance was synced, and the sync of the commit fails',
    [tidied, synced, frameOf(one), failed, answerOf(one)],
  ],
  ['a sync succeeds after one that failed', [frameOf(one), failed, synced, answerOf(one)]],
  [
    'a sync succeeds after one that failed, though the frames were written anew',
    [frameOf(one), failed, frameOf(one), synced, answerOf(one)],
  ],
  [
    'a sync of the maintenance fails before the commit, which then is synced',
    [tidied, failed, frameOf(one), synced, answerOf(one)],
  ],
  ['one event of several was not synced', [frameOf(one), synced, frameOf(two), failed, answerOf(one, two)]],
])('an answer is false when %s', (_, lines) => {
  expect(judge(...lines)).toBe(1);
});

test('tells which events were acknowledged', () => {
  const refused = answerOf(two).replace('200 OK', '503 Service Unavailable');
  expect(eventsToldIn(parseCalls([frameOf(one, two), answerOf(one), refused].join('\n')))).toEqual(new Set([one]));
});
