/** A server in a process of its own, as an operator starts it, to be hurt from outside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { hashToken } from '../../src/ingest/token.ts';
import { openStore } from '../../src/store/open.ts';

/** Runs what was built while that is newer than its sources, else the sources. */
const bin = fileURLToPath(new URL('../../bin/firsthand.js', import.meta.url));

export const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  return port;
};

export interface Served {
  readonly process: ChildProcess;
  readonly url: string;
  /** From starting the process to its first answer. */
  readonly readyMilliseconds: number;
}

/** Starts a server on a database file and waits until it is ready. */
export const startServed = async (databasePath: string, port: number): Promise<Served> => {
  const started = performance.now();
  const child = spawn(process.execPath, [bin, 'serve'], {
    env: { ...process.env, DATABASE_URL: `sqlite:${databasePath}`, PORT: String(port), LOG_LEVEL: 'error' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode} instead of starting`);
    const ready = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return { process: child, url, readyMilliseconds: performance.now() - started };
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

/** Makes an account in the file, with one server token; answers the token. */
export const makeAccount = async (databasePath: string): Promise<string> => {
  const token = 'server_of_the_fault_tests_000000';
  const onFatal = (error: Error) => {
    throw error;
  };
  const store = await openStore({ databaseURL: `sqlite:${databasePath}`, role: 'beside', create: true, onFatal });
  const time = Date.now();
  await store.createAccount({
    accountUUID: 'faults',
    accountName: 'Faults',
    accountOrigin: [],
    accountTimezone: 'UTC',
    strict: false,
    catalogues: {},
    tokens: [{ tokenID: 'faults', kind: 'server', tokenName: '', hash: hashToken(token), text: null, time }],
    contacts: [],
    time,
  });
  await store.close();
  return token;
};
