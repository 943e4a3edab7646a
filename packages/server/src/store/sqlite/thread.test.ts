import { getPriority } from 'node:os';
import { expect, test, vi } from 'vitest';
import { beginThread } from './thread.ts';

const moduleOf = (text: string) => new URL(`data:text/javascript,${encodeURIComponent(text)}`);

test('a thread that cannot open the database says why, and ends', async () => {
  const onFatal = vi.fn();
  const opening = `
    export const start = () => {
      throw Object.assign(new Error('no such table: event'), { code: 'SQLITE_ERROR' });
    };`;
  const thread = beginThread(moduleOf(opening)).open({ path: 'none.db' }, onFatal);
  await expect(thread.ready).rejects.toThrow('no such table: event');
  await thread.close();
  // Whoever waits for it to be ready is told; nobody else has begun to rely on it.
  expect(onFatal).not.toHaveBeenCalled();
});

test('a thread that fails once it is ready is fatal', async () => {
  const onFatal = vi.fn();
  const failing = `
    export const start = (port) => port.on('message', () => port.postMessage({ fatal: 'the disk did not sync' }));`;
  const thread = beginThread(moduleOf(failing)).open({ path: 'none.db' }, onFatal);
  await thread.ready;
  const answer = thread.send([{ name: 'check', request: undefined }]);
  expect(await answer).toMatchObject([{ refusal: ['not_kept', {}] }]);
  expect(onFatal).toHaveBeenCalledExactlyOnceWith(new Error('the disk did not sync'));
});

test('a thread that nobody needs ends', async () => {
  const thread = beginThread(moduleOf('export const start = () => {};'));
  thread.dismiss();
  const onFatal = vi.fn();
  await expect(thread.open({ path: 'none.db' }, onFatal).ready).rejects.toThrow('the thread has ended');
  expect(onFatal).not.toHaveBeenCalled();
});

test('parcels that nobody has answered are known as such, before the thread has ended and after', async () => {
  const ending = `
    export const start = (port) => port.on('message', () => port.postMessage({ fatal: 'the disk did not sync' }));`;
  const onFatal = vi.fn();
  const thread = beginThread(moduleOf(ending)).open({ path: 'none.db' }, onFatal);
  await thread.ready;
  expect(await thread.sendParcels([new Uint8Array(8)])).toBeUndefined();
  expect(await thread.sendParcels([new Uint8Array(8)])).toBeUndefined();
  expect(onFatal).toHaveBeenCalledOnce();
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
  const thread = beginThread(moduleOf(telling), 3).open({ path: 'none.db' }, vi.fn());
  await thread.ready;
  expect(await thread.send([{ name: 'check', request: undefined }])).toEqual([{ value: Math.min(own + 3, 19) }]);
  expect(getPriority()).toBe(own);
  await thread.close();
});
