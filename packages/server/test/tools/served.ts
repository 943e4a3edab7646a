/** A server in a process of its own, as an operator starts it, to be hurt from outside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { defaultRateLimits, type RateLimits } from '../../src/http/access/rate-limits.ts';
import { hashToken } from '../../src/ingest/token.ts';
import { openStore } from '../../src/store/open.ts';

/** Runs what was built while that is newer than its sources, else the sources. */
const bin = fileURLToPath(new URL('../../bin/firsthand.js', import.meta.url));
const root = fileURLToPath(new URL('../../../..', import.meta.url));

export interface ServeOptions {
  /** The `firsthand` command, when it is not our own. */
  readonly main?: string | undefined;
  /** What runs it: a command that the server's is appended to. */
  readonly under?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Started {
  /** The server, or what runs it. */
  readonly process: ChildProcess;
  readonly url: string;
  /** Resolves with the exit code (null after a signal) when it has ended. */
  readonly ended: Promise<number | null>;
  /** What it has written to standard error so far. */
  complaints(): string;
}

export interface Served extends Started {
  /** From starting the process to its first answer. */
  readonly readyMilliseconds: number;
}

/** It has ended instead of getting ready. */
export class EndedEarly extends Error {
  override readonly name = 'EndedEarly';
  readonly exitCode: number | null;
  readonly complaints: string;
  constructor(exitCode: number | null, complaints: string) {
    super(`the server ended with ${exitCode} instead of starting: ${complaints}`);
    this.exitCode = exitCode;
    this.complaints = complaints;
  }
}

/** A RATE_LIMIT that bounds nothing but what is named, which stays as it is by default. */
export const withoutLimits = (...kept: readonly (keyof RateLimits)[]): string =>
  (Object.keys(defaultRateLimits) as (keyof RateLimits)[])
    .filter((name) => !kept.includes(name))
    .map((name) => `${name}=100000000/100000000`)
    .join();

const running = new Set<ChildProcess>();

/** The processes that a process has started: the server, when strace runs it. */
export const childrenOf = (pid: number): number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
};

// A test that fails in the middle leaves its server behind.
afterAll(() => {
  for (const child of running) {
    for (const pid of childrenOf(child.pid as number)) process.kill(pid, 'SIGKILL');
    child.kill('SIGKILL');
  }
});

/** Starts a server on a database file. */
export const launch = (databasePath: string, port: number, options: ServeOptions = {}): Started => {
  const [program, ...args] = [...(options.under ?? []), process.execPath, options.main ?? bin, 'serve'];
  const child = spawn(program as string, args, {
    cwd: root,
    env: {
      ...process.env,
      DATABASE_URL: `sqlite:${databasePath}`,
      PORT: String(port),
      LOG_LEVEL: 'error',
      ...options.env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaints = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-20_000);
  });
  running.add(child);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  void ended.then(() => running.delete(child));
  return { process: child, url: `http://127.0.0.1:${port}`, ended, complaints: () => complaints };
};

/** Starts a server on a database file and waits until it is ready; throws EndedEarly when it ends instead. */
export const startServed = async (databasePath: string, port: number, options?: ServeOptions): Promise<Served> => {
  const started = performance.now();
  const launched = launch(databasePath, port, options);
  let exit: { code: number | null } | undefined;
  void launched.ended.then((code) => {
    exit = { code };
  });
  for (;;) {
    if (exit) throw new EndedEarly(exit.code, launched.complaints());
    const ready = await fetch(`${launched.url}/readyz`).then(
      async (response) => {
        await response.arrayBuffer();
        return response.ok;
      },
      () => false,
    );
    if (ready) return { ...launched, readyMilliseconds: performance.now() - started };
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

/** Stops it as an operator does; answers its exit code. */
export const stopServed = async ({ process: child, ended }: Started): Promise<number | null> => {
  child.kill('SIGTERM');
  return ended;
};

/** What a process holds of memory. */
export const residentMegabytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024;

/** Looks at something again and again until stopped; answers the greatest number seen. */
export const watchMost = (look: () => number, everyMilliseconds = 20): (() => number) => {
  let most = 0;
  const see = () => {
    try {
      most = Math.max(most, look());
    } catch {
      // Gone, or not there yet.
    }
  };
  const timer = setInterval(see, everyMilliseconds);
  return () => {
    clearInterval(timer);
    see();
    return most;
  };
};

/** The browser token of the account that makeAccount makes. */
export const browserToken = 'browser_of_the_fault_tests_00000';

/** As `makeAccount`, in the database that a URL names. `nth` tells several accounts of a database apart. */
export const makeAccountIn = async (databaseURL: string, nth = 0): Promise<string> => {
  const suffix = nth > 0 ? `_${nth}` : '';
  const token = `server_of_the_fault_tests_000000${suffix}`;
  const onFatal = (error: Error) => {
    throw error;
  };
  const store = await openStore({ databaseURL, role: 'beside', create: true, onFatal });
  const time = Date.now();
  await store.createAccount({
    accountUUID: `faults${suffix}`,
    accountName: 'Faults',
    accountOrigin: [],
    accountTimezone: 'UTC',
    accountCurrency: '',
    strict: false,
    browserCatalogue: false,
    enrich: true,
    catalogues: {},
    tokens: [
      { tokenID: `faults${suffix}`, kind: 'server', tokenName: '', hash: hashToken(token), text: null, time },
      {
        tokenID: `faults-browser${suffix}`,
        kind: 'browser',
        tokenName: '',
        hash: hashToken(browserToken + suffix),
        text: browserToken + suffix,
        time,
      },
    ],
    contacts: [],
    time,
  });
  await store.close();
  return token;
};

/** Makes an account in the file, with a browser token and a server token; answers the server token. */
export const makeAccount = (databasePath: string): Promise<string> => makeAccountIn(`sqlite:${databasePath}`);
