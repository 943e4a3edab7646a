/** Two servers over a cluster, under load for an account on each worker, followed and read back; and what came of it all. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { createLedger, judge, readEverything } from '../../faults/tools/ledger.ts';
import { freePort } from '../../tools/ports.ts';
import { type Served, startServed, stopServed } from '../../tools/served.ts';
import type { Node } from '../cluster.ts';
import { type Followed, follow } from './followed.ts';
import type { Account } from './own-cluster.ts';

const clients = 3;
/** How long a stream may take to show what was acknowledged last, and a server to serve again. */
const patienceMilliseconds = 60_000;

type Ledger = ReturnType<typeof createLedger>;

export interface TrialAccount extends Account {
  readonly ledger: Ledger;
  /** One on each server. */
  readonly streams: readonly Followed[];
}

export interface Trial {
  readonly urls: readonly [string, string];
  readonly accounts: readonly TrialAccount[];
  /** Sends events for every account to every server, until the returned function is called. */
  load(): () => Promise<void>;
  /** Sends events until every account is served by every server; returns the milliseconds. */
  untilServed(): Promise<number>;
  /** Ends a server as a crash does, and starts another in its place. */
  kill(nth: number): Promise<void>;
  /** Judges all that was acknowledged, and stops the servers. */
  finish(): Promise<Findings>;
}

export interface Findings {
  readonly acknowledged: number;
  readonly lost: number;
  readonly twice: number;
  /** Acknowledged events that the next read did not show. */
  readonly unseen: number;
  /** Acknowledged events that a stream did not tell, and those that one told twice. */
  readonly untold: number;
  readonly toldTwice: number;
  readonly withoutRetryAfter: number;
  /** How writes and reads ended: their statuses, in order. */
  readonly endings: readonly string[];
  count(ending: string): number;
}

/** The cursor after the first of two events. */
const cursorOf = async (url: string, token: string): Promise<string> => {
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/event/getEvent?order=asc&limit=1`, { headers });
  return ((await response.json()) as { nextCursor: string }).nextCursor;
};

/** Sends events until one is kept. */
const untilKept = async (ledger: Ledger, url: string, token: string): Promise<void> => {
  const began = performance.now();
  while (!(await ledger.sendOne(url, token))) {
    if (performance.now() - began > patienceMilliseconds) {
      throw new Error(`an account is not served: ${JSON.stringify([...ledger.endings])}`);
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
  const start = (port: number): Promise<Served> =>
    startServed('', port, { main, env: { DATABASE_URL: databaseURL, LOG_LEVEL: 'silent' } });
  const ports = [await freePort(), await freePort()] as const;
  const servers = [await start(ports[0]), await start(ports[1])];
  const urls = servers.map(({ url }) => url) as [string, string];

  const tried: TrialAccount[] = [];
  for (const account of accounts) {
    // A node is away for seconds: what fails meanwhile must all be sent again in the end.
    const ledger = createLedger(clients, { readBack: urls, pauseMilliseconds: 200 });
    const { token } = account;
    for (const url of urls) await untilKept(ledger, url, token);
    const cursor = await cursorOf(urls[0], token);
    tried.push({ ...account, ledger, streams: urls.map((url) => follow(url, token, cursor)) });
  }
  /** That of the first of the two was not told any more. */
  const missingIn = ({ ledger, streams }: TrialAccount) => {
    const [, ...later] = ledger.acknowledged;
    return streams.flatMap(({ seen }) => later.filter((key) => !seen.has(key)));
  };
  const untilAllTold = async (account: TrialAccount, patience: number) => {
    for (let waited = 0; missingIn(account).length > 0 && waited < patience; waited += 200) await wait(200);
    await Promise.all(account.streams.map((stream) => stream.stop()));
    return missingIn(account).length;
  };

  return {
    urls,
    accounts: tried,
    load() {
      const loads = tried.flatMap(({ ledger, token }) => urls.map((url) => ledger.send(url, token)));
      return async () => {
        await Promise.all(loads.map((load) => load.stop()));
      };
    },
    async untilServed() {
      const began = performance.now();
      for (const { ledger, token } of tried) for (const url of urls) await untilKept(ledger, url, token);
      return performance.now() - began;
    },
    async kill(nth) {
      const server = servers[nth] as Served;
      server.process.kill('SIGKILL');
      await server.ended;
      servers[nth] = await start(ports[nth] as number);
    },
    async finish() {
      let lost = 0;
      let twice = 0;
      let untold = 0;
      for (const account of tried) {
        const { ledger, token } = account;
        lost += judge(ledger, await readEverything(urls[0], token)).lost;
        // A client that got no answer sends again: exactly once all the same.
        await ledger.settle(urls[0], token);
        twice += judge(ledger, await readEverything(urls[1], token)).twice;
        // What is lost will not be told either.
        untold += await untilAllTold(account, lost > 0 ? 1_000 : patienceMilliseconds);
      }
      for (const server of servers) expect(await stopServed(server)).toBe(0);
      const sum = (numberOf: (account: TrialAccount) => number) =>
        tried.reduce((total, account) => total + numberOf(account), 0);
      const count = (ending: string) => sum(({ ledger }) => ledger.endings.get(ending) ?? 0);
      return {
        acknowledged: sum(({ ledger }) => ledger.acknowledged.size),
        lost,
        twice,
        untold,
        unseen: sum(({ ledger }) => ledger.unseen.length),
        toldTwice: sum(
          ({ streams }) => streams.flatMap(({ seen }) => [...seen.values()].filter((times) => times > 1)).length,
        ),
        withoutRetryAfter: sum(({ ledger }) => ledger.withoutRetryAfter),
        endings: [...new Set(tried.flatMap(({ ledger }) => [...ledger.endings.keys()]))].sort(),
        count,
      };
    },
  };
};

/** How an event and a page of one account end, sent to a server just now. */
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

/** The workers’ accounts that a lost node takes along: all, with the coordinator. */
export const lostWith = (node: Node, accounts: readonly TrialAccount[]): readonly TrialAccount[] =>
  node === 'coordinator' ? accounts : accounts.filter((account) => account.node === node);
