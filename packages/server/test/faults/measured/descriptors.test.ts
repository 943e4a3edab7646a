import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { times } from '../../tools/counts.ts';
import { freePort } from '../../tools/ports.ts';
import { report } from '../../tools/report.ts';
import { createTestAccount, startServerProcess, stopServerProcess } from '../../tools/server-process.ts';
import { changeServer } from '../../tools/weakened-server.ts';
import { exitingWithoutDescriptors, withoutConnectionLimit } from '../../weaknesses/http.ts';

/** The limit on open files. It must allow the server to load from its TypeScript sources. */
const maxFiles = 256;
const rounds = times({ quick: 2, full: 20 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-descriptors-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Uses up all file descriptors with idle connections. */
const useAllDescriptors = async (port: number): Promise<Socket[]> => {
  const sockets = Array.from({ length: 2 * maxFiles }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
  await wait(200);
  return sockets;
};

/** Erases contacts while the server cannot open more files. Returns whether the server survived, and its responses. */
const exhaust = async (name: string, main?: string, env: Record<string, string> = {}) => {
  const path = join(folder, `${name}.db`);
  const tokenUUID = await createTestAccount(path);
  const port = await freePort();
  const under = ['/bin/sh', '-c', `ulimit -n ${maxFiles}; exec "$0" "$@"`];
  const served = await startServerProcess(path, port, { main, under, env });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const post = (path: string, fields: object) =>
    new Promise<{ status: number; body: Record<string, string> }>((resolve) => {
      const outgoing = request(`${served.url}${path}`, { method: 'POST', agent }, async (response) => {
        let text = '';
        for await (const part of response) text += part;
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) });
      });
      outgoing.on('error', () => resolve({ status: 0, body: {} }));
      outgoing.end(JSON.stringify({ tokenUUID, ...fields }));
    });
  const statuses: number[] = [];
  let erased = 0;
  for (let round = 0; round < rounds && served.process.exitCode === null; round += 1) {
    const contactEmailaddress = `ann-${round}@example.com`;
    const { body } = await post('/contact/createContact', {
      userUUID: `visitor-${round}-of-many`,
      contactEmailaddress,
      contactProfileID: 'customer',
    });
    const sockets = await useAllDescriptors(port);
    statuses.push((await post('/contact/eraseContact', { contactUUID: body.contactUUID })).status);
    // Gives maintenance, which reads the database file, time to run.
    await wait(300);
    for (const socket of sockets) socket.destroy();
    await wait(300);
    let again = await post('/contact/eraseContact', { contactUUID: body.contactUUID });
    for (let left = 100; again.status !== 200 && left > 0 && served.process.exitCode === null; left -= 1) {
      await wait(100);
      again = await post('/contact/eraseContact', { contactUUID: body.contactUUID });
    }
    if (again.status === 200) erased += 1;
  }
  const survived = served.process.exitCode === null && served.process.signalCode === null;
  if (survived) await stopServerProcess(served);
  agent.destroy();
  return { survived, statuses, erased, recorded: readdirSync(folder).includes(`${name}.db-erased`) };
};

test('survives connections that use up all file descriptors, and erases contacts in the meantime', async (context) => {
  const ours = await exhaust('ours');
  expect(ours).toMatchObject({ survived: true, erased: rounds, recorded: true });
  expect([...new Set(ours.statuses)]).toEqual([200]);

  // Without the limit, connections use up all descriptors. An erasure can then be refused, but the server keeps
  // running.
  const full = await exhaust('full', changeServer(folder, 'without-limit', withoutConnectionLimit));
  expect(full).toMatchObject({ survived: true, erased: rounds, recorded: true });
  expect([200, 503]).toEqual(expect.arrayContaining([...new Set(full.statuses)]));

  const weakened = await exhaust('weakened', changeServer(folder, 'without-room', exitingWithoutDescriptors));
  expect(weakened.survived).toBe(false);
  report(context, {
    fault: 'no free file descriptors',
    count: `${rounds} × ${2 * maxFiles} connections to a server that may open ${maxFiles} files, each with an erasure`,
    result: '0 servers exited; every erasure 200',
    weakened: `no limit on connections, EMFILE treated as damage: exited after erasure ${weakened.statuses.length}`,
  });
});
