// A worker that answers nothing any more, though its connections stay: it takes no connection from the accounts of the other.
import { expect, test } from 'vitest';
import { asking } from '../fixtures/postgres/asking.ts';
import { freePort } from '../tools/ports.ts';
import { startServed, stopServed, withoutLimits } from '../tools/served.ts';
import { freezeNode } from './cluster.ts';
import { type Account, useOwnCluster } from './tools/own-cluster.ts';

const cluster = useOwnCluster();

/** More of each kind than a server has connections for. */
const asked = 8;

const nameOf = (nth: number) => `visitor_${nth}`.padEnd(21, '_');
const kinds = {
  event: (nth: number) => ['/event/logEvent', { userUUID: nameOf(nth), eventID: 1 }],
  contact: (nth: number) => [
    '/contact/createContact',
    { userUUID: nameOf(nth), contactEmailaddress: `person_${nth}@example.com`, contactProfileID: 'customer' },
  ],
  page: (nth: number) => [`/event/getEvent?userUUID=${nameOf(nth)}&order=asc`, undefined],
  account: () => ['/account/getAccount', undefined],
} as const satisfies Record<string, (nth: number) => readonly [path: string, fields: object | undefined]>;
type Kind = keyof typeof kinds;

const send = async (url: string, { token }: Account, kind: Kind, nth: number): Promise<string> => {
  const [path, fields] = kinds[kind](nth);
  const post = fields && { method: 'POST', body: JSON.stringify(fields) };
  const response = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}` }, ...post });
  const text = await response.text();
  return response.ok ? '200' : `${response.status} ${text}`;
};
const sendAll = (url: string, account: Account, count: number) =>
  (Object.keys(kinds) as Kind[]).flatMap((kind) =>
    Array.from({ length: count }, (_, nth) => send(url, account, kind, nth)),
  );

/** More than a server lets wait for a machine, 100 kB each, on fewer connections than an address may open at once. */
const batches = 50;
const sendBatch = async (url: string, { token }: Account, nth: number): Promise<number> => {
  const eventAttrArray = [{ attrID: 'text', attrValue: 'x'.repeat(1_000) }];
  const event = Array.from({ length: 100 }, () => ({ userUUID: nameOf(nth), eventID: 1, eventAttrArray }));
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/event/logEvents`, { method: 'POST', headers, body: JSON.stringify({ event }) });
  await response.arrayBuffer();
  return response.status;
};

test('a worker that hangs holds up its own accounts only', async () => {
  const { databaseURL, accounts } = await cluster.newDatabase();
  const [slow, other] = accounts as [Account, Account];
  const server = await startServed('', await freePort(), {
    env: { DATABASE_URL: databaseURL, LOG_LEVEL: 'silent', RATE_LIMIT: withoutLimits() },
  });
  const { url } = server;
  for (const account of accounts)
    expect(new Set(await Promise.all(sendAll(url, account, 2)))).toEqual(new Set(['200']));

  const thaw = freezeNode(cluster.cluster(), slow.node);
  let answered = 0;
  const waiting = sendAll(url, slow, asked).map(async (sent) => {
    const status = await sent;
    answered += 1;
    return status;
  });
  // What waits for a machine may take so much memory and no more.
  const flood = Array.from({ length: batches }, (_, nth) => sendBatch(url, slow, nth));
  try {
    expect(await Promise.race(flood)).toBe(503);
    const statuses = await Promise.all(sendAll(url, other, asked));
    expect(new Set(statuses)).toEqual(new Set(['200']));
    expect(answered).toBe(0);
    const sql = `SELECT count(*)::integer AS count FROM pg_stat_activity
      WHERE application_name = 'firsthand' AND datname = current_database()`;
    const [connections] = await asking<{ count: number }>(databaseURL, sql);
    expect(connections?.count).toBeLessThanOrEqual(15 + 2 * 14);
  } finally {
    thaw();
  }
  for (const status of await Promise.all(flood)) expect([200, 503]).toContain(status);
  for (const status of await Promise.all(waiting)) expect(status).toMatch(/^(200|503)/);
  expect(new Set(await Promise.all(sendAll(url, slow, 2)))).toEqual(new Set(['200']));
  expect(await stopServed(server)).toBe(0);
});
