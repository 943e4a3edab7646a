import { getPriority } from 'node:os';
import { expect, test, vi } from 'vitest';
import { startThread } from './thread.ts';

const toModuleURL = (text: string) => new URL(`data:text/javascript,${encodeURIComponent(text)}`);

test('rejects `ready` with the reason if the thread cannot open the database', async () => {
  const onFatal = vi.fn();
  const opening = `
    export const start = () => {
      throw Object.assign(new Error('no such table: event'), { code: 'SQLITE_ERROR' });
    };`;
  const thread = startThread(toModuleURL(opening), { opening: { path: 'none.db' }, niceness: 0, onFatal });
  await expect(thread.ready).rejects.toThrow('no such table: event');
  await thread.close();
  // Not called, because the rejected promise reports the error, and nothing else depends on the thread yet.
  expect(onFatal).not.toHaveBeenCalled();
});

test('calls onFatal when a thread fails after it was ready', async () => {
  const onFatal = vi.fn();
  const failing = `
    export const start = (port) => port.on('message', () => port.postMessage({ fatal: 'the disk did not sync' }));`;
  const thread = startThread(toModuleURL(failing), { opening: { path: 'none.db' }, niceness: 0, onFatal });
  await thread.ready;
  const outcome = thread.send([{ name: 'check', request: undefined }]);
  expect(await outcome).toMatchObject([{ error: { code: 'unavailable' } }]);
  expect(onFatal).toHaveBeenCalledExactlyOnceWith(new Error('the disk did not sync'));
  const next = await thread.send([{ name: 'check', request: undefined }]);
  expect(next).toMatchObject([{ error: { code: 'unavailable' } }]);
});

test.runIf(process.platform === 'linux')('lowers only the priority of its own thread', async () => {
  const reportingPriority = `
    import { readlinkSync } from 'node:fs';
    import { getPriority } from 'node:os';
    const priority = () => getPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)));
    export const start = (port) =>
      port.on('message', (asked) =>
        asked === 'close' ? port.close() : port.postMessage({ id: asked.id, outcomes: [{ value: priority() }] }),
      );`;
  const own = getPriority();
  const thread = startThread(toModuleURL(reportingPriority), {
    opening: { path: 'none.db' },
    niceness: 3,
    onFatal: vi.fn(),
  });
  await thread.ready;
  expect(await thread.send([{ name: 'check', request: undefined }])).toEqual([{ value: Math.min(own + 3, 19) }]);
  expect(getPriority()).toBe(own);
  await thread.close();
});
