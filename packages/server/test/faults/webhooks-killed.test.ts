/**
 * Kills servers while they store events and contacts, and deliver them to an endpoint that accepts, rejects, cuts and
 * never responds.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createRandom, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import {
  createTestAccount,
  type ServerProcess,
  startServerProcess,
  stopServerProcess,
  withoutLimits,
} from '../tools/server-process.ts';
import { useOwnPostgres } from './tools/own-postgres.ts';

const kills = times({ quick: 3, full: 1_000 });
const eventsPerKill = 40;
const customer = { contactProfileID: 'customer' };
/** Messages about an erased contact can be sent for about a second. */
const erasureMilliseconds = 5_000;
/** Another server waits until the lease of a killed server expires, and retries wait up to five minutes. */
const patient = { timeout: 900_000, interval: 500 };

const postgres = useOwnPostgres();
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-webhooks-killed-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Received {
  readonly id: string;
  readonly type: string;
  /** The eventUUID or contactUUID. */
  readonly subject: string;
  readonly time: number;
}

/** Fails some messages the first time, until `isCalm`. */
const openReceiver = async () => {
  const accepted: Received[] = [];
  const received: Received[] = [];
  const attempted = new Set<string>();
  const receiver = { isCalm: false, accepted, received, url: '' };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { type, data } = JSON.parse(body);
    const id = String(request.headers['webhook-id']);
    const message = { id, type, subject: data.eventUUID ?? data.contactUUID, time: Date.now() };
    received.push(message);
    const isFirst = !attempted.has(id);
    attempted.add(id);
    const fault = isFirst && !receiver.isCalm ? /event-\d+-(\d+)$/.exec(message.subject)?.[1] : undefined;
    if (fault === '29') return;
    if (fault?.endsWith('7')) return void request.socket.destroy();
    if (fault?.endsWith('3')) return void response.writeHead(500).end();
    accepted.push(message);
    response.writeHead(200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return receiver;
};

interface Service {
  readonly serverToken: string;
  /** Starts each of the servers, which share a database. */
  readonly starts: readonly (() => Promise<ServerProcess>)[];
}

/** Kills one server after the other while each stores and delivers. */
const killWhileDelivering = async ({ serverToken, starts }: Service) => {
  const receiver = await openReceiver();
  const servers = await Promise.all(starts.map((start) => start()));
  const post = async (nth: number, path: string, fields: object) => {
    const body = JSON.stringify({ tokenUUID: serverToken, ...fields });
    const response = await fetch((servers[nth % servers.length] as ServerProcess).url + path, { method: 'POST', body });
    const read = (await response.json()) as Record<string, string>;
    expect([path, read.status]).toEqual([path, '200']);
    return read;
  };
  const type = ['event.logged', 'contact.created', 'contact.erased'];
  await post(0, '/webhook/createWebhook', { url: receiver.url, type });
  const eventUUIDs: string[] = [];
  const contactUUIDs: string[] = [];
  const erasedTimes = new Map<string, number>();
  const random = createRandom(1);
  for (let kill = 0; kill < kills; kill += 1) {
    const event = Array.from({ length: eventsPerKill }, (_, nth) => ({
      eventUUID: `event-${kill}-${nth}`,
      eventID: 1,
    }));
    await post(kill, '/event/logEvents', { userUUID: 'visitor-of-the-faults', event });
    eventUUIDs.push(...event.map(({ eventUUID }) => eventUUID));
    for (const nth of [1, 2]) {
      const contactExternalID = `customer-${kill}-${nth}`;
      const { contactUUID = '' } = await post(kill, '/contact/createContact', { ...customer, contactExternalID });
      if (nth === 1) contactUUIDs.push(contactUUID);
      else {
        await wait(random() * 100);
        await post(kill + 1, '/contact/eraseContact', { contactUUID });
        erasedTimes.set(contactUUID, Date.now());
      }
    }
    await wait(random() * 400);
    const nth = kill % servers.length;
    const { process, ended } = servers[nth] as ServerProcess;
    process.kill('SIGKILL');
    await ended;
    servers[nth] = await (starts[nth] as Service['starts'][number])();
  }
  receiver.isCalm = true;

  const acceptedOf = (wanted: string) =>
    [...new Set(receiver.accepted.filter((message) => message.type === wanted).map(({ subject }) => subject))].sort();
  await vi.waitFor(() => {
    expect(acceptedOf('event.logged')).toEqual([...eventUUIDs].sort());
    expect(acceptedOf('contact.created')).toEqual(expect.arrayContaining(contactUUIDs));
    expect(acceptedOf('contact.erased')).toEqual([...erasedTimes.keys()].sort());
  }, patient);
  const ids = new Map<string, Set<string>>();
  for (const { type: of, subject, id } of receiver.received)
    ids.set(`${of} ${subject}`, (ids.get(`${of} ${subject}`) ?? new Set()).add(id));
  const created = acceptedOf('contact.created').filter((subject) => !erasedTimes.has(subject));
  expect(created).toEqual([...contactUUIDs].sort());
  expect([...ids].filter(([, each]) => each.size > 1)).toEqual([]);
  const isLate = ({ type: of, subject, time }: Received) =>
    of !== 'contact.erased' && time > (erasedTimes.get(subject) ?? Infinity) + erasureMilliseconds;
  expect(receiver.received.filter(isLate)).toEqual([]);
  await Promise.all(servers.map(stopServerProcess));
};

const env = { RATE_LIMIT: withoutLimits(), WEBHOOK_ALLOW: '127.0.0.0/8' };

test('delivers each event and change at least once, with one ID, after a server on SQLite was killed', async () => {
  const path = join(folder, 'killed.db');
  const port = await freePort();
  const serverToken = await createTestAccount(path);
  await killWhileDelivering({ serverToken, starts: [() => startServerProcess(path, port, { env })] });
});

test('delivers each event and change at least once, with one ID, after servers on PostgreSQL were killed', async () => {
  const { databaseURL, token } = await postgres.createDatabase('webhooks_killed');
  const ports = [await freePort(), await freePort(), await freePort(), await freePort()];
  const withDatabase = { ...env, DATABASE_URL: databaseURL, LOG_LEVEL: 'silent' };
  const starts = ports.map((port) => () => startServerProcess('', port, { env: withDatabase }));
  await killWhileDelivering({ serverToken: token, starts });
});
