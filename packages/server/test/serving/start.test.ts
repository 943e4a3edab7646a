import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { firsthandJSON, startServer, temporaryDatabase } from '../fixtures/command.ts';
import { createAccount, operatorToken, serveHere, userUUID } from '../fixtures/serving.ts';

describe('a port that another program uses', () => {
  const takePort = async (): Promise<number> => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    return (other.address() as { port: number }).port;
  };

  it.each(['PORT', 'METRICS_PORT'])('is reported, with %s, before a database is created', async (setting) => {
    const port = await takePort();
    const { path, env } = temporaryDatabase();
    const serving = serveHere({ ...env, [setting]: String(port) });
    await expect(serving).rejects.toThrow(
      `cannot listen on 127.0.0.1, port ${port}: another program is already listening there; choose another ${setting}`,
    );
    expect(readdirSync(dirname(path))).toEqual([]);
  });
});

it('lets OPERATOR_TOKEN create accounts, even after a restart', async () => {
  const { env } = temporaryDatabase();
  const first = await serveHere(env);
  await createAccount(first.url);
  await first.close();
  const second = await serveHere(env);
  expect((await createAccount(second.url)).status).toBe('200');
});

it('prints no token and serves no demo page when started with `firsthand serve`', async () => {
  const { env } = temporaryDatabase();
  const { serverTokenUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const server = await startServer({ ...env, OPERATOR_TOKEN: operatorToken, LOG_LEVEL: 'trace' });
  expect((await fetch(`${server.url}/demo/`)).status).toBe(404);
  await fetch(`${server.url}/event/getEvent?tokenUUID=${serverTokenUUID}&userUUID=${userUUID}`);
  server.child.kill('SIGTERM');
  await server.ended;
  expect(server.written()).toMatch(/"msg":"stopped"/);
  expect(server.written()).not.toMatch(/(browser|agent|viewer|editor|server|operator)_[\w-]{8}/);
  expect(server.written()).not.toContain(userUUID);
});
