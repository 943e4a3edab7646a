import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Refusal } from '../shared/refusal.ts';
import { createReports } from './reports.ts';

/** Creates reports over a folder that is never created, because no test starts the process. */
const setUp = (limitMilliseconds: number) =>
  createReports({
    feed: { feedEvents: expect.unreachable as never, feedOwners: expect.unreachable as never },
    folder: join(tmpdir(), 'firsthand-reports-that-nobody-makes'),
    memory: 2 ** 20,
    threads: 1,
    limitMilliseconds,
  });
const until = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  signal.throwIfAborted();
};
const isRefused = (code: string) => expect.objectContaining({ reason: expect.objectContaining({ code }) });

it('stops the preparation of a report at the time limit', async () => {
  await expect(setUp(1).prepare(1, until)).rejects.toMatchObject({ code: 'report_too_slow' });
});

it('stops the preparation when the client disconnects, and rejects with the abort signal’s reason', async () => {
  const client = new AbortController();
  const prepared = setUp(60_000).prepare(1, until, { signal: client.signal });
  client.abort(new Error('gone'));
  await expect(prepared).rejects.toThrow('gone');
});

it('rejects with a refusal thrown during preparation', async () => {
  const refusal = new Refusal('invalid_field', { field: 'by' });
  await expect(setUp(60_000).prepare(1, () => Promise.reject(refusal))).rejects.toBe(refusal);
});

it('refuses more than 11 concurrent reports for an account or for all share links, and more than 22 in total', async () => {
  const { prepare } = setUp(60_000);
  const done = new AbortController();
  const all = [
    ...Array.from({ length: 12 }, () => prepare(1, () => until(done.signal))),
    ...Array.from({ length: 12 }, (_, nth) => prepare(2 + nth, () => until(done.signal), { isShared: true })),
    prepare(100, () => until(done.signal)),
  ];
  const settled = Promise.allSettled(all);
  await new Promise(setImmediate);
  done.abort(new Error('done'));
  const results = await settled;
  const refused = isRefused('no_reports');
  expect(results.flatMap((result, nth) => (refused.asymmetricMatch(result) ? [nth] : []))).toEqual([11, 23, 24]);
});
