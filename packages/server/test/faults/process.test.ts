import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createClient } from '@firsthand/client';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { serve } from '../../src/serving/serve.ts';
import { firsthandJSON, spawnFirsthand, startServer, temporaryDatabase } from '../fixtures/command.ts';
import { serveHere, userUUID } from '../fixtures/serving.ts';
import { soon } from '../fixtures/timeouts.ts';

describe('SIGTERM', () => {
  it('completes or refuses every request under load, and loses no acknowledged event', async () => {
    const { env } = temporaryDatabase();
    const { serverTokenUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
    const server = await startServer(env);
    const acknowledged: string[] = [];
    const broken: unknown[] = [];
    /** Requests that a busy machine delayed until the server closed their connection as idle (`idleMs` in drain.ts). */
    const late: string[] = [];
    const idleMilliseconds = 500;
    const logUntilRefused = async (client: number) => {
      let sent = performance.now();
      for (let count = 0; ; count += 1) {
        const eventUUID = `event-${client}-${count}`;
        const previousSent = sent;
        sent = performance.now();
        try {
          const body = JSON.stringify({ tokenUUID: serverTokenUUID, userUUID, eventID: 1, eventUUID });
          const response = await fetch(`${server.url}/logEvent`, { method: 'POST', body });
          await response.text();
          if (response.status === 200) acknowledged.push(eventUUID);
          else broken.push(response.status);
        } catch (error) {
          const { code } = ((error as Error).cause ?? {}) as { code?: string };
          const isLate = performance.now() - previousSent >= idleMilliseconds;
          if (code === 'UND_ERR_SOCKET' && isLate) late.push(eventUUID);
          else if (code !== 'ECONNREFUSED') broken.push(code ?? error);
          return;
        }
      }
    };
    const clients = Promise.all(Array.from({ length: 8 }, (_, client) => logUntilRefused(client)));
    await expect.poll(() => acknowledged.length).toBeGreaterThan(100);
    const began = performance.now();
    server.child.kill('SIGTERM');
    await clients;
    const { code, signal } = await server.ended;
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(performance.now() - began).toBeLessThan(soon.timeout);
    expect(broken).toEqual([]);

    const again = await serveHere(env);
    const client = createClient({ url: again.url, token: serverTokenUUID });
    const stored = new Set<string>();
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = await client.getEvent({ limit: 1000, cursor });
      for (const { eventUUID } of page.event) stored.add(eventUUID);
      cursor = page.nextCursor || undefined;
    }
    expect(acknowledged.filter((eventUUID) => !stored.has(eventUUID))).toEqual([]);
    expect(late.filter((eventUUID) => stored.has(eventUUID))).toEqual([]);
  });

  it('makes the process exit immediately when sent twice', async () => {
    const server = await startServer(temporaryDatabase().env);
    const { hostname, port } = new URL(server.url);
    const stalled = connect(Number(port), hostname);
    stalled.on('error', () => {});
    stalled.write('POST /logEvent HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
    await new Promise((resolve) => setTimeout(resolve, 200));
    server.child.kill('SIGTERM');
    await server.waitForOutput(/stopping/);
    server.child.kill('SIGINT');
    expect((await server.ended).code).toBe(1);
    // A completed shutdown logs this message.
    expect(server.written()).not.toMatch(/"msg":"stopped"/);
  });
});

describe('a second server on the same file', () => {
  it('is refused quickly', async () => {
    const { env } = temporaryDatabase();
    await serveHere(env);
    const began = performance.now();
    await expect(serve(readConfig({ ...env, PORT: '0' }))).rejects.toThrow(/is being served already/);
    expect(performance.now() - began).toBeLessThan(soon.timeout);
  });

  it('exits with an error code, and prints one message after the line with its version', async () => {
    const { env } = temporaryDatabase();
    await serveHere(env);
    const { code, stdout, stderr } = await spawnFirsthand(['serve', '--port', '0'], env).ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    const [first = '', ...others] = stderr.split('\n');
    expect(JSON.parse(first)).toMatchObject({ level: 'info', msg: 'starting', version, node: process.versions.node });
    expect(others).toEqual([expect.stringMatching(/^firsthand: .+ is being served already: /), '']);
  });
});
