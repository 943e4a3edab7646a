import { getPriority } from 'node:os';
import { expect, test, vi } from 'vitest';
import { startThread } from './thread.ts';

const moduleOf = (text: string) => new URL(`data:text/javascript,${encodeURIComponent(text)}`);

test('a thread that cannot open the database says why, and ends', async () => {
  const onFatal = vi.fn();
  const opening = `
    export const start = () => {
      throw Object.assign(new Error('no such table: event'), { code: 'SQLITE_ERROR' });
    };`;
  const thread = startThread(moduleOf(opening), { opening: { path: 'none.db' }, niceness: 0, onFatal });
  await expect(thread.ready).rejects.toThrow('no such table: event');
  await thread.close();
  // Whoever waits for it to be ready is told; nobody else has begun to rely on it.
  expect(onFatal).not.toHaveBeenCalled();
});

test('a thread that fails once it is ready is fatal', async () => {
  const onFatal = vi.fn();
  const failing = `
    export const start = (port) => port.on('message', () => port.postMessage({ fatal: 'the disk did not sync' }));`;
  const thread = startThread(moduleOf(failing), { opening: { path: 'none.db' }, niceness: 0, onFatal });
  await thread.ready;
  const answer = thread.send([{ name: 'check', request: undefined }]);
  expect(await answer).toMatchObject([{ error: { code: 'unavailable' } }]);
  expect(onFatal).toHaveBeenCalledExactlyOnceWith(new Error('the disk did not sync'));
  const next = await thread.send([{ name: 'check', request: undefined }]);
  expect(next).toMatchObject([{ error: { code: 'unavailable' } }]);
});

test.runIf(process.platform === 'linux')('a thread gives way to the others, and takes none of them along', async () => {
  const telling = `
    import { readlinkSync } from 'node:fs';
    import { getPriority } from 'node:os';
    const priority = () => getPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)));
    export const start = (port) =>
      port.on('message', (asked) =>
        asked === 'close' ? port.close() : port.postMessage({ id: asked.id, outcomes: [{ value: priority() }] }),
      );`;
  const own = getPriority();
  const thread = startThread(moduleOf(telling), { opening: { path: 'none.db' }, niceness: 3, onFatal: vi.fn() });
  await thread.ready;
  expect(await thread.send([{ name: 'check', request: undefined }])).toEqual([{ value: Math.min(own + 3, 19) }]);
  expect(getPriority()).toBe(own);
  await thread.close();
});
