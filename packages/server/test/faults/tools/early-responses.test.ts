import { expect, test } from 'vitest';
import { findEarlyResponses, listAcknowledgedEvents } from './early-responses.ts';
import { parseCalls } from './tracing.ts';

/** In these logs, thread 10 responds, and thread 11 writes. */
const onLog = (call: string) => `11 ${call}(5</data/firsthand.db-wal>`;
const onDatabase = '11 fsync(4</data/firsthand.db>';
const fails = ') = -1 EIO (Input/output error) (INJECTED)';
const quoteEvents = (events: readonly string[]) => events.map((event) => `\\"${event}\\"`).join(',');
const frameOf = (...events: readonly string[]) =>
  `${onLog('pwrite64')}, "\\r\\0[${quoteEvents(events)}]\\0", 4096, 4152) = 4096`;
const synced = `${onLog('fdatasync')}) = 0`;
const failed = onLog('fdatasync') + fails;
const responseOf = (...events: readonly string[]) =>
  `10 writev(21<socket:[7]>, [{iov_base="HTTP/1.1 200 OK\\r\\n\\r\\n[${quoteEvents(events)}]", iov_len=99}], 2) = 99`;

const one = 'event_0000000001';
const two = 'event_0000000002';
const maintenanceFrame = frameOf();
const responseBegun = responseOf(one).replace('], 2) = 99', '], 2 <unfinished ...>');
const responseEnded = '10 <... writev resumed>) = 99';
const syncBegun = `${onLog('fsync')} <unfinished ...>`;
const syncEnded = '11 <... fsync resumed>) = 0';

const judge = (...lines: readonly string[]) => findEarlyResponses(parseCalls(lines.join('\n'))).length;

test.each<[string, readonly string[]]>([
  ['the commit is synced', [frameOf(one), maintenanceFrame, synced, responseOf(one)]],
  [
    'the commit is synced, then a maintenance sync fails',
    [frameOf(one), synced, maintenanceFrame, failed, responseOf(one)],
  ],
  [
    'the commit is synced, then a sync of another file fails',
    [frameOf(one), synced, onDatabase + fails, responseOf(one)],
  ],
  ['the commit is synced, and maintenance rewrites its events', [frameOf(one), synced, frameOf(one), responseOf(one)]],
  ['the same page has an earlier event', [frameOf(one), synced, frameOf(one, two), synced, responseOf(two)]],
  [
    'standard error cannot be synced',
    ['10 fsync(2<socket:[7]>) = -1 EINVAL (Invalid argument)', frameOf(one), synced, responseOf(one)],
  ],
  ['the response acknowledges no event', [failed, responseOf()]],
])('accepts a response when %s', (_, lines) => {
  expect(judge(...lines)).toBe(0);
});

test.each<[string, readonly string[]]>([
  ['nothing was written', [synced, responseOf(one)]],
  ['nothing was synced', [frameOf(one), responseOf(one), synced]],
  ['the response begins before the sync ends', [frameOf(one), syncBegun, responseBegun, syncEnded, responseEnded]],
  [
    'the sync began before the frame was written',
    [syncBegun, frameOf(one).replace('11', '12'), syncEnded, responseOf(one)],
  ],
  ['only another file was synced', [frameOf(one), `${onDatabase}) = 0`, responseOf(one)]],
  ['the write failed', [frameOf(one).replace(/\) = 4096$/, fails), synced, responseOf(one)]],
  ['the sync of the commit fails', [frameOf(one), failed, responseOf(one)]],
  [
    'maintenance is synced, and the sync of the commit fails',
    [maintenanceFrame, synced, frameOf(one), failed, responseOf(one)],
  ],
  ['a sync succeeds after another sync failed', [frameOf(one), failed, synced, responseOf(one)]],
  [
    'a sync succeeds after another sync failed, although the frames were rewritten',
    [frameOf(one), failed, frameOf(one), synced, responseOf(one)],
  ],
  [
    'a maintenance sync fails before the commit, which is then synced',
    [maintenanceFrame, failed, frameOf(one), synced, responseOf(one)],
  ],
  ['one of several events was not synced', [frameOf(one), synced, frameOf(two), failed, responseOf(one, two)]],
])('rejects a response when %s', (_, lines) => {
  expect(judge(...lines)).toBe(1);
});

test('lists the acknowledged events', () => {
  const refused = responseOf(two).replace('200 OK', '503 Service Unavailable');
  expect(listAcknowledgedEvents(parseCalls([frameOf(one, two), responseOf(one), refused].join('\n')))).toEqual(
    new Set([one]),
  );
});
