/** A trial: two servers on a cluster under load. The events of one account per worker are followed and read back. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { createLedger, judge, readEverything } from '../../faults/tools/ledger.ts';
import { freePort } from '../../tools/ports.ts';
import { type ServerProcess, startServerProcess, stopServerProcess } from '../../tools/server-process.ts';
import type { Node } from '../cluster.ts';
import type { Account } from './own-cluster.ts';
import { type Follower, follow } from './stream-follower.ts';

const clients = 3;
/** The time limit for a stream to send the last acknowledged events, and for a server to recover. */
const timeoutMilliseconds = 60_000;

type Ledger = ReturnType<typeof createLedger>;

export interface TrialAccount extends Account {
  readonly ledger: Ledger;
  /** One stream from each server. */
  readonly streams: readonly Follower[];
}

export interface Trial {
  readonly urls: readonly [string, string];
  readonly accounts: readonly TrialAccount[];
  /** Sends events for every account to every server, until the returned function is called. */
  load(): () => Promise<void>;
  /** Sends events until every server has stored one for every account, and returns the duration in milliseconds. */
  untilServed(): Promise<number>;
  /** Kills a server, and starts another one in its place. */
  kill(nth: number): Promise<void>;
  /** Checks all acknowledged events, and stops the servers. */
  finish(): Promise<Findings>;
}

export interface Findings {
  readonly acknowledged: number;
  readonly lost: number;
  readonly twice: number;
  /** Acknowledged events that the next read did not show. */
  readonly unseen: number;
  /** Acknowledged events that a stream did not send. */
  readonly missing: number;
  /** Events that a stream sent more than once. */
  readonly repeated: number;
  readonly withoutRetryAfter: number;
  /** The distinct results of writes and reads, sorted. */
  readonly endings: readonly string[];
  count(ending: string): number;
}

/** Returns the cursor after the account's first event. */
const cursorOf = async (url: string, token: string): Promise<string> => {
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/event/getEvent?order=asc&limit=1`, { headers });
  return ((await response.json()) as { nextCursor: string }).nextCursor;
};

/** Sends events until one is stored. */
const sendUntilStored = async (ledger: Ledger, url: string, token: string): Promise<void> => {
  const began = performance.now();
  while (!(await ledger.sendOne(url, token))) {
    if (performance.now() - began > timeoutMilliseconds) {
      throw new Error(`an account is still unavailable: ${JSON.stringify([...ledger.endings])}`);
    }
    await wait(20);
  }
};

interface TrialOptions {
  readonly databaseURL: string;
  readonly accounts: readonly Account[];
  readonly main?: string | undefined;
}

export const openTrial = async ({ databaseURL, accounts, main }: TrialOptions): Promise<Trial> => {
  const start = (port: number): Promise<ServerProcess> =>
    startServerProcess('', port, { main, env: { DATABASE_URL: databaseURL, LOG_LEVEL: 'silent' } });
  const ports = [await freePort(), await freePort()] as const;
  const servers = [await start(ports[0]), await start(ports[1])];
  const urls = servers.map(({ url }) => url) as [string, string];

  const trialAccounts: TrialAccount[] = [];
  for (const account of accounts) {
    // The pause limits the number of failed requests while a node is down for several seconds: all of them are sent
    // again at the end.
    const ledger = createLedger(clients, { readBack: urls, pauseMilliseconds: 200 });
    const { token } = account;
    for (const url of urls) await sendUntilStored(ledger, url, token);
    const cursor = await cursorOf(urls[0], token);
    trialAccounts.push({ ...account, ledger, streams: urls.map((url) => follow(url, token, cursor)) });
  }
  // Ignores the first event: the streams start after it.
  const missingIn = ({ ledger, streams }: TrialAccount) => {
    const [, ...later] = ledger.acknowledged;
    return streams.flatMap(({ received }) => later.filter((key) => !received.has(key)));
  };
  const countMissing = async (account: TrialAccount, maxMilliseconds: number) => {
    for (let waited = 0; missingIn(account).length > 0 && waited < maxMilliseconds; waited += 200) await wait(200);
    await Promise.all(account.streams.map((stream) => stream.stop()));
    return missingIn(account).length;
  };

  return {
    urls,
    accounts: trialAccounts,
    load() {
      const loads = trialAccounts.flatMap(({ ledger, token }) => urls.map((url) => ledger.send(url, token)));
      return async () => {
        await Promise.all(loads.map((load) => load.stop()));
      };
    },
    async untilServed() {
      const began = performance.now();
      for (const { ledger, token } of trialAccounts) for (const url of urls) await sendUntilStored(ledger, url, token);
      return performance.now() - began;
    },
    async kill(nth) {
      const server = servers[nth] as ServerProcess;
      server.process.kill('SIGKILL');
      await server.ended;
      servers[nth] = await start(ports[nth] as number);
    },
    async finish() {
      let lost = 0;
      let twice = 0;
      let missing = 0;
      for (const account of trialAccounts) {
        const { ledger, token } = account;
        lost += judge(ledger, await readEverything(urls[0], token)).lost;
        // Retries like a client that got no response. The event must still be stored only once.
        await ledger.settle(urls[0], token);
        twice += judge(ledger, await readEverything(urls[1], token)).twice;
        // Does not wait long if events were lost, because lost events can't arrive anymore.
        missing += await countMissing(account, lost > 0 ? 1_000 : timeoutMilliseconds);
      }
      for (const server of servers) expect(await stopServerProcess(server)).toBe(0);
      const sum = (numberOf: (account: TrialAccount) => number) =>
        trialAccounts.reduce((total, account) => total + numberOf(account), 0);
      const count = (ending: string) => sum(({ ledger }) => ledger.endings.get(ending) ?? 0);
      return {
        acknowledged: sum(({ ledger }) => ledger.acknowledged.size),
        lost,
        twice,
        missing,
        unseen: sum(({ ledger }) => ledger.unseen.length),
        repeated: sum(
          ({ streams }) =>
            streams.flatMap(({ received }) => [...received.values()].filter((times) => times > 1)).length,
        ),
        withoutRetryAfter: sum(({ ledger }) => ledger.withoutRetryAfter),
        endings: [...new Set(trialAccounts.flatMap(({ ledger }) => [...ledger.endings.keys()]))].sort(),
        count,
      };
    },
  };
};

/** Logs an event for an account and reads a page of its events. Returns both results. */
export const probe = async (url: string, { token }: Account): Promise<string[]> => {
  const headers = { Authorization: `Bearer ${token}` };
  const statusOf = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${url}${path}`, { headers, ...init });
    await response.arrayBuffer();
    return response.status;
  };
  const body = JSON.stringify({ userUUID: 'probing_user_0000', eventID: 3 });
  return [
    `write ${await statusOf('/event/logEvent', { method: 'POST', body })}`,
    `read ${await statusOf('/event/getEvent?userUUID=probing_user_0000')}`,
  ];
};

/** Returns the accounts that are unavailable while a node is down. If it is the coordinator, these are all accounts. */
export const listUnavailableAccounts = (node: Node, accounts: readonly TrialAccount[]): readonly TrialAccount[] =>
  node === 'coordinator' ? accounts : accounts.filter((account) => account.node === node);
