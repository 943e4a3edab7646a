import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import type { StoreOptions } from '../../src/store/open.ts';
import { serveHere } from '../fixtures/serving.ts';
import { soon } from '../fixtures/timeouts.ts';

const openOptions: StoreOptions[] = [];
vi.mock('../../src/store/open.ts', async (original) => {
  const modules = await original<typeof import('../../src/store/open.ts')>();
  return {
    ...modules,
    openStore: (options: StoreOptions) => {
      openOptions.push(options);
      return modules.openStore(options);
    },
  };
});

it('stops responding when the disk’s state is unknown', async () => {
  const fatal: Error[] = [];
  const { url } = await serveHere({}, { onFatal: (error) => void fatal.push(error) });
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const failure = new Error('the disk did not sync');
  openOptions[0]?.onFatal(failure);
  expect(fatal).toEqual([failure]);
  await expect(fetch(`${url}/readyz`)).rejects.toThrow();
});

it('logs a fatal error’s cause even before it has begun to serve', async () => {
  const lines: string[] = [];
  const fatal: Error[] = [];
  const failure = new Error('the disk did not sync');
  const serving = serveHere(
    {},
    { log: pino({}, { write: (line) => void lines.push(line) }), onFatal: (error) => void fatal.push(error) },
  );
  await vi.waitFor(() => expect(openOptions).toHaveLength(2), soon);
  openOptions[1]?.onFatal(failure);
  expect(fatal).toEqual([failure]);
  expect(lines.map((line) => JSON.parse(line)).filter(({ level }) => level > 30)).toMatchObject([
    { level: 60, err: { message: failure.message } },
  ]);
  await (await serving).close();
});
