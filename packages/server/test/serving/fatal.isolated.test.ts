import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import type { StoreOptions } from '../../src/store/open.ts';
import { soon } from '../fixtures/patience.ts';
import { serveHere } from '../fixtures/serving.ts';

const opened: StoreOptions[] = [];
vi.mock('../../src/store/open.ts', async (original) => {
  const modules = await original<typeof import('../../src/store/open.ts')>();
  return {
    ...modules,
    openStore: (options: StoreOptions) => {
      opened.push(options);
      return modules.openStore(options);
    },
  };
});

it('answers nothing any more when it cannot be known what is on the disk', async () => {
  const fatal: Error[] = [];
  const { url } = await serveHere({}, { onFatal: (error) => void fatal.push(error) });
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const failure = new Error('the disk did not sync');
  opened[0]?.onFatal(failure);
  expect(fatal).toEqual([failure]);
  await expect(fetch(`${url}/readyz`)).rejects.toThrow();
});

it('says why before it has begun to serve, too', async () => {
  const lines: string[] = [];
  const fatal: Error[] = [];
  const failure = new Error('the disk did not sync');
  const serving = serveHere(
    {},
    { log: pino({}, { write: (line) => void lines.push(line) }), onFatal: (error) => void fatal.push(error) },
  );
  await vi.waitFor(() => expect(opened).toHaveLength(2), soon);
  opened[1]?.onFatal(failure);
  expect(fatal).toEqual([failure]);
  expect(lines.map((line) => JSON.parse(line)).filter(({ level }) => level > 30)).toMatchObject([
    { level: 60, err: { message: failure.message } },
  ]);
  await (await serving).close();
});
