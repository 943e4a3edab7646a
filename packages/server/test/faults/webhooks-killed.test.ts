/** Kills servers while they deliver messages to an endpoint that accepts, rejects and cuts off requests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { soon } from '../fixtures/timeouts.ts';
import { times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { createTestAccount, startServerProcess, stopServerProcess, withoutLimits } from '../tools/server-process.ts';

const kills = times({ quick: 3, full: 30 });
const eventsPerKill = 200;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-webhooks-killed-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Accepts a message, except that it rejects or cuts off some messages the first time. */
const openReceiver = async () => {
  /** The IDs of the accepted messages, by eventUUID. */
  const accepted = new Map<string, Set<string>>();
  const attempted = new Set<string>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { eventUUID } = JSON.parse(body).data;
    const isFirst = !attempted.has(eventUUID);
    attempted.add(eventUUID);
    if (isFirst && eventUUID.endsWith('7')) return void request.socket.destroy();
    if (isFirst && eventUUID.endsWith('3')) return void response.writeHead(500).end();
    accepted.set(eventUUID, (accepted.get(eventUUID) ?? new Set()).add(String(request.headers['webhook-id'])));
    response.writeHead(200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { accepted, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
};

test('delivers each stored event at least once, with the same ID, after servers were killed', async () => {
  const path = join(folder, 'killed.db');
  const serverToken = await createTestAccount(path);
  const port = await freePort();
  const receiver = await openReceiver();
  const env = { RATE_LIMIT: withoutLimits(), WEBHOOK_ALLOW: '127.0.0.0/8' };
  let served = await startServerProcess(path, port, { env });
  const post = async (at: string, fields: object) => {
    const body = JSON.stringify({ tokenUUID: serverToken, ...fields });
    const response = await fetch(served.url + at, { method: 'POST', body });
    return (await response.json()) as Record<string, unknown>;
  };
  await post('/webhook/createWebhook', { url: receiver.url, type: ['event.logged'] });
  const stored: string[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const eventUUIDs = Array.from({ length: eventsPerKill }, (_, nth) => `event-${kill}-number-${nth}`);
    const event = eventUUIDs.map((eventUUID) => ({ eventUUID, eventID: 1 }));
    expect((await post('/event/logEvents', { userUUID: 'visitor-of-the-faults', event })).status).toBe('200');
    stored.push(...eventUUIDs);
    const before = receiver.accepted.size;
    await vi.waitFor(() => expect(receiver.accepted.size).toBeGreaterThan(before + 20), soon);
    served.process.kill('SIGKILL');
    await served.ended;
    served = await startServerProcess(path, port, { env });
  }
  await vi.waitFor(() => expect([...receiver.accepted.keys()].sort()).toEqual([...stored].sort()), soon);
  for (const ids of receiver.accepted.values()) expect(ids.size).toBe(1);
  await stopServerProcess(served);
  receiver.close();
});
