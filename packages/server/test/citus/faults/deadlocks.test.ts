// Tests that servers that concurrently change the same few users and contacts never deadlock: statements lock rows in
// one order, and transactions lock kinds of rows in one order.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient, FirsthandError } from '@firsthand/client';
import { expect, test } from 'vitest';
import { createRandom, times } from '../../tools/counts.ts';
import { freePort } from '../../tools/ports.ts';
import { report } from '../../tools/report.ts';
import {
  type ServerProcess,
  startServerProcess,
  stopServerProcess,
  withoutLimits,
} from '../../tools/server-process.ts';
import { changeServer } from '../../tools/weakened-server.ts';
import { lockingInAnyOrder } from '../../weaknesses/store.ts';
import { getNodeFolder, nodes } from '../cluster.ts';
import { type Account, useOwnCluster } from '../tools/own-cluster.ts';

const minuteMs = 60_000;
const durationMs = times({ quick: 0.5, full: 60 }) * minuteMs;
const weakenedDurationMs = 0.5 * minuteMs;
const servers = 4;
/** The number of clients for each account on each server. */
const clients = 2;
const restMs = 50;

const cluster = useOwnCluster();

type Client = ReturnType<typeof createClient>;

/** The data that an account's clients share. There are few objects of each kind, so that the clients conflict. */
interface Shared {
  readonly users: readonly string[];
  readonly contacts: Map<string, string>;
  readonly links: string[];
}

const fewUsers = 24;
const fewContacts = 8;

const choose = <Entry>(entries: readonly Entry[], random: () => number): Entry =>
  entries[Math.floor(random() * entries.length)] as Entry;

/** Runs a random operation on an account, and returns its name. */
const changeSomething = async (
  api: Client,
  { users, contacts, links }: Shared,
  random: () => number,
): Promise<string> => {
  const user = choose(users, random);
  const [contactUUID, otherContactUUID] = [
    choose([...contacts.values()], random),
    choose([...contacts.values()], random),
  ];
  const share = random();
  if (share < 0.5 || contactUUID === undefined || otherContactUUID === undefined) {
    if (share < 0.35) {
      const event = Array.from({ length: 10 }, () => ({ userUUID: choose(users, random), eventID: 1 }));
      await api.logEvents({ event });
      return 'logEvents';
    }
    const name = `person-${Math.floor(random() * fewContacts)}`;
    const created = await api.createContact({
      userUUID: user,
      contactEmailaddress: `${name}@shop.example`,
      contactProfileID: 'customer',
    });
    contacts.set(name, created.contactUUID);
    return 'createContact';
  }
  if (share < 0.65) {
    links.push((await api.linkUser({ userUUID: user, contactUUID })).linkID);
    return 'linkUser';
  }
  if (share < 0.72) {
    await api.unlinkUser({ userUUID: user });
    return 'unlinkUser';
  }
  if (share < 0.78 && links.length > 0) {
    await api.voidLink({ linkID: choose(links.slice(-20), random) });
    return 'voidLink';
  }
  if (share < 0.86) {
    await api.mergeContact({ contactUUID, otherContactUUID });
    return 'mergeContact';
  }
  if (share < 0.92) {
    await api.unmergeContact({ otherContactUUID });
    return 'unmergeContact';
  }
  if (share < 0.94) {
    await api.eraseContact({ contactUUID });
    return 'eraseContact';
  }
  await api.getEvent({ contactUUID });
  return 'getEvent';
};

interface Outcome {
  /** The number of successful calls to each operation. */
  readonly counts: Readonly<Record<string, number>>;
  /** The responses with a status of 500 or higher, and their times. */
  readonly failures: readonly string[];
  /** The lines about deadlocks in the nodes' logs. */
  readonly deadlocks: readonly string[];
}

const deadlocksIn = (clusterFolder: string): string[] =>
  nodes.flatMap((node) =>
    readFileSync(join(getNodeFolder(clusterFolder, node), 'log'), 'utf8')
      .split('\n')
      .filter((line) => /(ERROR|FATAL).*deadlock/.test(line)),
  );

/** Changes the accounts through all servers until the time is up. */
const load = async (accounts: readonly Account[], urls: readonly string[], untilMs: number) => {
  const counts: Record<string, number> = {};
  const failures: string[] = [];
  const running = accounts.flatMap(({ token }, nth) => {
    const shared: Shared = {
      users: Array.from({ length: fewUsers }, (_, user) => `browser-number-${nth}-${user}`),
      contacts: new Map(),
      links: [],
    };
    return urls.flatMap((url, server) =>
      Array.from({ length: clients }, async (_, client) => {
        const random = createRandom(nth * 100 + server * 10 + client);
        const api = createClient({ url, token, retries: 0 });
        while (Date.now() < untilMs) {
          try {
            const operation = await changeSomething(api, shared, random);
            counts[operation] = (counts[operation] ?? 0) + 1;
          } catch (error) {
            if (!(error instanceof FirsthandError)) throw error;
            // Counts only unexpected failures: other refusals are caused by another client's changes.
            if (error.status >= 500 || error.status === 0)
              failures.push(`${new Date().toISOString()}: ${error.status} ${error.code}: ${error.message}`);
          }
          await wait(restMs);
        }
      }),
    );
  });
  await Promise.all(running);
  return { counts, failures };
};

const changeTogether = async (milliseconds: number, main?: string): Promise<Outcome> => {
  const { databaseURL, accounts } = await cluster.newDatabase();
  const before = deadlocksIn(cluster.cluster()).length;
  const env = { DATABASE_URL: databaseURL, LOG_LEVEL: 'silent', RATE_LIMIT: withoutLimits() };
  const served: ServerProcess[] = [];
  for (let nth = 0; nth < servers; nth += 1) served.push(await startServerProcess('', await freePort(), { main, env }));
  // Logs a first event per account, which creates the day's tables, because all other writes wait for them.
  for (const { token } of accounts)
    await createClient({ url: (served[0] as ServerProcess).url, token }).logEvent({
      userUUID: 'the-first-browser',
      eventID: 1,
    });
  const outcome = await load(
    accounts,
    served.map(({ url }) => url),
    Date.now() + milliseconds,
  );
  for (const server of served) expect(await stopServerProcess(server)).toBe(0);
  return { ...outcome, deadlocks: deadlocksIn(cluster.cluster()).slice(before) };
};

test(`causes no deadlocks while four servers log, link, merge and erase the same people for ${durationMs / minuteMs} minutes`, {
  timeout: durationMs + 60 * minuteMs,
}, async (context) => {
  const { counts, failures, deadlocks } = await changeTogether(durationMs);
  expect({ failures, deadlocks }).toEqual({ failures: [], deadlocks: [] });
  for (const operation of ['logEvents', 'createContact', 'linkUser', 'mergeContact', 'eraseContact'])
    expect(counts[operation]).toBeGreaterThan(0);
  const weakened = await changeTogether(
    weakenedDurationMs,
    changeServer(cluster.folder(), 'any-order', lockingInAnyOrder),
  );
  expect(weakened.deadlocks.length).toBeGreaterThan(0);
  const operations = Object.entries(counts)
    .map(([operation, count]) => `${count} ${operation}`)
    .join(', ');
  report(context, {
    fault: 'Citus: four servers change the same people',
    count: `${durationMs / minuteMs} minutes: ${operations}`,
    result: '0 deadlocks in the logs of the nodes, 0 responses with a status of 500 or higher',
    weakened: `locks other users as well, in any order: ${weakened.deadlocks.length} deadlocks in ${weakenedDurationMs / minuteMs} minutes`,
  });
});
