/** Starts servers in separate processes, as operators do, for tests that attack them from outside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { defaultRateLimits, type RateLimits } from '../../src/http/access/rate-limits.ts';
import { hashToken } from '../../src/ingest/token.ts';
import { openStore } from '../../src/store/open.ts';

/** Runs the build if it is newer than the sources; otherwise, runs the sources. */
const bin = fileURLToPath(new URL('../../bin/firsthand.js', import.meta.url));
const root = fileURLToPath(new URL('../../../..', import.meta.url));

export interface ServeOptions {
  /** The path of another `firsthand` command. */
  readonly main?: string | undefined;
  /** A command that runs the server, such as strace. The server's command is appended to it. */
  readonly under?: readonly string[];
  /** Options for Node. */
  readonly nodeArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Started {
  /** The process of the server, or of the command in `under`. */
  readonly process: ChildProcess;
  readonly url: string;
  /** Resolves with the exit code (null after a signal) when the process has ended. */
  readonly ended: Promise<number | null>;
  /** The last 20,000 characters of standard error. */
  complaints(): string;
}

export interface ServerProcess extends Started {
  /** The time from the start of the process to its first response. */
  readonly readyMilliseconds: number;
}

/** Thrown if the server exits before it is ready. */
export class EarlyExitError extends Error {
  override readonly name = 'EarlyExitError';
  readonly exitCode: number | null;
  readonly complaints: string;
  constructor(exitCode: number | null, complaints: string) {
    super(`the server exited with ${exitCode} before it was ready: ${complaints}`);
    this.exitCode = exitCode;
    this.complaints = complaints;
  }
}

/** Returns a RATE_LIMIT that disables all limits except the given ones, which keep their defaults. */
export const withoutLimits = (...enforced: readonly (keyof RateLimits)[]): string =>
  (Object.keys(defaultRateLimits) as (keyof RateLimits)[])
    .filter((name) => !enforced.includes(name))
    .map((name) => `${name}=100000000/100000000`)
    .join();

const running = new Set<ChildProcess>();

/** Lists a process's children. The child of strace is the server. */
export const listChildren = (pid: number): number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
};

// Stops servers that a failed test might have left running.
afterAll(() => {
  for (const child of running) {
    for (const pid of listChildren(child.pid as number)) process.kill(pid, 'SIGKILL');
    child.kill('SIGKILL');
  }
});

/** Starts a server with a database file. */
export const launch = (databasePath: string, port: number, options: ServeOptions = {}): Started => {
  const [program, ...args] = [
    ...(options.under ?? []),
    process.execPath,
    ...(options.nodeArgs ?? []),
    options.main ?? bin,
    'serve',
  ];
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

/**
 * Starts a server with a database file, and waits until it is ready. Throws EarlyExitError if the server exits before
 * that.
 */
export const startServerProcess = async (
  databasePath: string,
  port: number,
  options?: ServeOptions,
): Promise<ServerProcess> => {
  const started = performance.now();
  const launched = launch(databasePath, port, options);
  let exit: { code: number | null } | undefined;
  void launched.ended.then((code) => {
    exit = { code };
  });
  for (;;) {
    if (exit) throw new EarlyExitError(exit.code, launched.complaints());
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

/** Stops a server with SIGTERM, and returns its exit code. */
export const stopServerProcess = async ({ process: child, ended }: Started): Promise<number | null> => {
  child.kill('SIGTERM');
  return ended;
};

/** Returns a process's resident memory. */
export const readResidentMegabytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024;

/** Polls a number. Returns a function that stops polling and returns the maximum. */
export const trackMaximum = (measure: () => number, everyMilliseconds = 20): (() => number) => {
  let maximum = 0;
  const update = () => {
    try {
      maximum = Math.max(maximum, measure());
    } catch {
      // Ignores a process or file that does not exist yet or no longer exists.
    }
  };
  const timer = setInterval(update, everyMilliseconds);
  return () => {
    clearInterval(timer);
    update();
    return maximum;
  };
};

/** The browser token of the account that `createTestAccount` creates. */
export const browserToken = 'browser_of_the_fault_tests_00000';

/** Like `createTestAccount`, with a database URL. `nth` distinguishes several accounts in a database. */
export const createTestAccountIn = async (databaseURL: string, nth = 0): Promise<string> => {
  const suffix = nth > 0 ? `_${nth}` : '';
  const token = `server_of_the_fault_tests_000000${suffix}`;
  const onFatal = (error: Error) => {
    throw error;
  };
  const store = await openStore({ databaseURL, role: 'command', create: true, onFatal });
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
    defaultProfileID: '',
    userIDIsEmailaddress: false,
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

/** Creates an account with a browser token and a server token in a database file, and returns the server token. */
export const createTestAccount = (databasePath: string): Promise<string> =>
  createTestAccountIn(`sqlite:${databasePath}`);
