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
import { makeAccount, startServed, stopServed } from '../../tools/served.ts';
import { changeServer } from '../../tools/weakened.ts';
import { endingWithoutDescriptors, withoutBoundOnConnections } from '../../weaknesses/http.ts';

/** Enough for the sources to be loaded from TypeScript. */
const files = 256;
const rounds = times({ quick: 2, full: 20 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-descriptors-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Gives every descriptor to connections, which do nothing. */
const takeAll = async (port: number): Promise<Socket[]> => {
  const sockets = Array.from({ length: 2 * files }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
  await wait(200);
  return sockets;
};

/** Erases contacts while a server may open no more files; whether it survives, and what it answered. */
const exhaust = async (name: string, main?: string, env: Record<string, string> = {}) => {
  const path = join(folder, `${name}.db`);
  const tokenUUID = await makeAccount(path);
  const port = await freePort();
  const under = ['/bin/sh', '-c', `ulimit -n ${files}; exec "$0" "$@"`];
  const served = await startServed(path, port, { main, under, env });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (path: string, fields: object) =>
    new Promise<{ status: number; body: Record<string, string> }>((resolve) => {
      const asked = request(`${served.url}${path}`, { method: 'POST', agent }, async (response) => {
        let text = '';
        for await (const part of response) text += part;
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) });
      });
      asked.on('error', () => resolve({ status: 0, body: {} }));
      asked.end(JSON.stringify({ tokenUUID, ...fields }));
    });
  const statuses: number[] = [];
  let erased = 0;
  for (let round = 0; round < rounds && served.process.exitCode === null; round += 1) {
    const contactEmailaddress = `ann-${round}@example.com`;
    const { body } = await ask('/contact/createContact', {
      userUUID: `visitor-${round}-of-many`,
      contactEmailaddress,
      contactProfileID: 'customer',
    });
    const sockets = await takeAll(port);
    statuses.push((await ask('/contact/eraseContact', { contactUUID: body.contactUUID })).status);
    // A step of maintenance reads the database's file.
    await wait(300);
    for (const socket of sockets) socket.destroy();
    await wait(300);
    let again = await ask('/contact/eraseContact', { contactUUID: body.contactUUID });
    for (let left = 100; again.status !== 200 && left > 0 && served.process.exitCode === null; left -= 1) {
      await wait(100);
      again = await ask('/contact/eraseContact', { contactUUID: body.contactUUID });
    }
    if (again.status === 200) erased += 1;
  }
  const survived = served.process.exitCode === null && served.process.signalCode === null;
  if (survived) await stopServed(served);
  agent.destroy();
  return { survived, statuses, erased, recorded: readdirSync(folder).includes(`${name}.db-erased`) };
};

test('connections that take every descriptor end no server, and stop no erasure', async (context) => {
  const ours = await exhaust('ours');
  expect(ours).toMatchObject({ survived: true, erased: rounds, recorded: true });
  expect([...new Set(ours.statuses)]).toEqual([200]);

  // The connections take all descriptors: an erasure is refused for now, and the server runs on.
  const full = await exhaust('full', changeServer(folder, 'without-limit', withoutBoundOnConnections));
  expect(full).toMatchObject({ survived: true, erased: rounds, recorded: true });
  expect([200, 503]).toEqual(expect.arrayContaining([...new Set(full.statuses)]));

  const weakened = await exhaust('weakened', changeServer(folder, 'without-room', endingWithoutDescriptors));
  expect(weakened.survived).toBe(false);
  report(context, {
    fault: 'no descriptor left',
    count: `${rounds} × ${2 * files} connections to a server that may open ${files} files, and an erasure`,
    result: '0 servers ended; every erasure answered 200',
    weakened: `no limit to connections, EMFILE taken for damage: ended after ${weakened.statuses.length} erasure`,
  });
});
