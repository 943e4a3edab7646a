import { afterEach, beforeEach, expect, test, vi } from 'vitest';

let disk: Record<string, string>;
let queue: typeof import('./queue.ts');
let storage: typeof import('./storage.ts');
let createEventUUID: typeof import('../records/event-uuid.ts').createEventUUID;

/** Creates a stand-in for `localStorage`: an object with a limit on the number of its properties. */
const createDisk = (maxItems = Number.POSITIVE_INFINITY): Record<string, string> =>
  new Proxy<Record<string, string>>(
    {},
    {
      set: (items, key: string, value: string) => {
        if (!(key in items) && Object.keys(items).length >= maxItems)
          throw new DOMException('full', 'QuotaExceededError');
        items[key] = value;
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
  storage.openStorage();
};

const enqueue = (record: string, token = 'browser_a'): string => {
  const key = `firsthand:${createEventUUID()}${token}`;
  storage.writeItem(key, record);
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

test('stores each record under its own key, in order, separately for each token', () => {
  const keys = [enqueue('1'), enqueue('2'), enqueue('3')];
  const other = enqueue('4', 'browser_b');
  expect(queue.listQueuedKeys('browser_a')).toEqual(keys);
  expect(queue.listQueuedKeys('browser_b')).toEqual([other]);
  expect(disk[keys[1] as string]).toBe('2');
});

test('lists the records that an earlier page has stored, and those that another tab adds and removes', async () => {
  const key = enqueue('1');
  vi.advanceTimersByTime(1);
  await load(disk);
  expect(queue.listQueuedKeys('browser_a')).toEqual([key]);
  const other = `firsthand:${createEventUUID()}browser_a`;
  storage.updateCopy(other, '2');
  storage.updateCopy('theirs', '3');
  expect(queue.listQueuedKeys('browser_a')).toEqual([key, other]);
  storage.updateCopy(key, null);
  expect(queue.listQueuedKeys('browser_a')).toEqual([other]);
  expect(Object.keys(storage.copies)).toEqual([other]);
});

test('keeps records that a script removes from storage, and writes them again', () => {
  const keys = [enqueue('1'), enqueue('2')];
  for (const key of keys) delete disk[key];
  expect(queue.listQueuedKeys('browser_a')).toEqual(keys);
  storage.writeCopies();
  expect(keys.map((key) => disk[key])).toEqual(['1', '2']);
});

test('sorts the records of earlier pages by time', async () => {
  const keys = [3, 1, 2].map((nth) => `firsthand:000000000${nth}browser_a`);
  for (const key of keys) disk[key] = 'x';
  await load(disk);
  expect(queue.listQueuedKeys('')).toEqual(keys.sort());
});

test('leaves other scripts’ items alone', () => {
  disk['fh:theirs'] = disk.cart = 'theirs';
  enqueue('1');
  expect([disk['fh:theirs'], disk.cart]).toEqual(['theirs', 'theirs']);
});

test('drops no record because of its age', () => {
  const old = enqueue('old');
  vi.advanceTimersByTime(30 * 86_400e3);
  const young = enqueue('young');
  expect(queue.listQueuedKeys('browser_a')).toEqual([old, young]);
});

test('holds at most 500 records, and drops the oldest first', () => {
  const keys = Array.from({ length: 510 }, () => enqueue('x'));
  expect(queue.listQueuedKeys('browser_a')).toEqual(keys.slice(10));
  expect(Number(queue.readDroppedCount())).toBe(10);
});

test('drops no record in flight', () => {
  const keys = Array.from({ length: 3 }, () => `firsthand:${createEventUUID()}browser_a`);
  for (const key of keys) storage.writeItem(key, 'x'.repeat(150_000));
  queue.inFlight[keys[0] as string] = true;
  queue.dropSurplus();
  expect(queue.listQueuedKeys('browser_a')).toEqual([keys[0], keys[2]]);
});

test('writes the dropped-record count to storage only once for several drops', () => {
  for (let nth = 0; nth < 3; nth++) queue.countDropped();
  expect(disk['firsthand.dropped']).toBe(undefined);
  queue.dropSurplus();
  expect(Number(disk['firsthand.dropped'])).toBe(3);
});

test('holds at most 256 KiB, and drops the oldest first', () => {
  const keys = Array.from({ length: 30 }, () => enqueue('x'.repeat(10_240)));
  expect(queue.listQueuedKeys('browser_a')).toEqual(keys.slice(-25));
});

test.for<[string, () => unknown]>([
  ['full', () => createDisk(2)],
  ['forbidden', () => undefined],
  ['null', () => null],
])('continues in memory if storage is %s', async ([, createStorage]) => {
  await load(createStorage());
  const keys = [enqueue('1'), enqueue('2'), enqueue('3'), enqueue('4')];
  expect(queue.listQueuedKeys('browser_a')).toEqual(keys);
});
