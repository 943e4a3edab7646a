import { afterEach, beforeEach, expect, test, vi } from 'vitest';

let disk: Record<string, string>;
let queue: typeof import('./queue.ts');
let storage: typeof import('./storage.ts');
let createEventUUID: typeof import('../records/event-uuid.ts').createEventUUID;

/** What `localStorage` is to us: properties, of which there may be no more than so many. */
const createDisk = (most = Number.POSITIVE_INFINITY): Record<string, string> =>
  new Proxy<Record<string, string>>(
    {},
    {
      set: (kept, key: string, value: string) => {
        if (!(key in kept) && Object.keys(kept).length >= most) throw new DOMException('full', 'QuotaExceededError');
        kept[key] = value;
        return true;
      },
    },
  );

const load = async (localStorage: unknown): Promise<void> => {
  vi.resetModules();
  vi.stubGlobal('localStorage', localStorage);
  queue = await import('./queue.ts');
  ({ createEventUUID } = await import('../records/event-uuid.ts'));
  storage = await import('./storage.ts');
  storage.openStored();
};

const enqueue = (record: string, token = 'browser_a'): string => {
  const key = `firsthand:${createEventUUID()}${token}`;
  storage.writeStored(key, record);
  queue.dropSurplus();
  return key;
};

beforeEach(async () => {
  vi.useFakeTimers({ now: Date.now() });
  disk = createDisk();
  await load(disk);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('keeps each record under a key of its own, in order, apart for each token', () => {
  const keys = [enqueue('1'), enqueue('2'), enqueue('3')];
  const other = enqueue('4', 'browser_b');
  expect(queue.queuedKeys('browser_a')).toEqual(keys);
  expect(queue.queuedKeys('browser_b')).toEqual([other]);
  expect(disk[keys[1] as string]).toBe('2');
});

test('finds what an earlier page has left, and what another tab writes and removes', async () => {
  const key = enqueue('1');
  vi.advanceTimersByTime(1);
  await load(disk);
  expect(queue.queuedKeys('browser_a')).toEqual([key]);
  const other = `firsthand:${createEventUUID()}browser_a`;
  storage.noteItem(other, '2');
  storage.noteItem('theirs', '3');
  expect(queue.queuedKeys('browser_a')).toEqual([key, other]);
  storage.noteItem(key, null);
  expect(queue.queuedKeys('browser_a')).toEqual([other]);
  expect(Object.keys(storage.copies)).toEqual([other]);
});

test('keeps records that a script removes from the storage, and writes them again', () => {
  const keys = [enqueue('1'), enqueue('2')];
  for (const key of keys) delete disk[key];
  expect(queue.queuedKeys('browser_a')).toEqual(keys);
  storage.writeCopies();
  expect(keys.map((key) => disk[key])).toEqual(['1', '2']);
});

test('sorts the records of earlier pages by their time', async () => {
  const keys = [3, 1, 2].map((nth) => `firsthand:000000000${nth}browser_a`);
  for (const key of keys) disk[key] = 'x';
  await load(disk);
  expect(queue.queuedKeys('')).toEqual(keys.sort());
});

test('leaves alone what is not ours', () => {
  disk['fh:theirs'] = disk.cart = 'theirs';
  enqueue('1');
  expect([disk['fh:theirs'], disk.cart]).toEqual(['theirs', 'theirs']);
});

test('drops no record for its age', () => {
  const old = enqueue('old');
  vi.advanceTimersByTime(30 * 86_400e3);
  const young = enqueue('young');
  expect(queue.queuedKeys('browser_a')).toEqual([old, young]);
});

test('holds 500 records, and drops the oldest first', () => {
  const keys = Array.from({ length: 510 }, () => enqueue('x'));
  expect(queue.queuedKeys('browser_a')).toEqual(keys.slice(10));
  expect(Number(queue.droppedCount())).toBe(10);
});

test('drops no record that is being sent', () => {
  const keys = Array.from({ length: 3 }, () => `firsthand:${createEventUUID()}browser_a`);
  for (const key of keys) storage.writeStored(key, 'x'.repeat(150_000));
  queue.taken[keys[0] as string] = true;
  queue.dropSurplus();
  expect(queue.queuedKeys('browser_a')).toEqual([keys[0], keys[2]]);
});

test('stores the count of what it dropped once for all that was dropped', () => {
  for (let nth = 0; nth < 3; nth++) queue.countDropped();
  expect(disk['firsthand.dropped']).toBe(undefined);
  queue.dropSurplus();
  expect(Number(disk['firsthand.dropped'])).toBe(3);
});

test('holds 256 KiB, and drops the oldest first', () => {
  const keys = Array.from({ length: 30 }, () => enqueue('x'.repeat(10_240)));
  expect(queue.queuedKeys('browser_a')).toEqual(keys.slice(-25));
});

test.for<[string, () => unknown]>([
  ['full', () => createDisk(2)],
  ['forbidden', () => undefined],
  ['null', () => null],
])('with storage that is %s goes on in memory', async ([, make]) => {
  await load(make());
  const keys = [enqueue('1'), enqueue('2'), enqueue('3'), enqueue('4')];
  expect(queue.queuedKeys('browser_a')).toEqual(keys);
});
