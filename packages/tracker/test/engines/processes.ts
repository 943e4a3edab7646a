/**
 * Processes that the harness starts. Each leads its own process group, so that killing the group affects no other
 * process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { testTimeoutMilliseconds } from '../test-timeout.ts';

const running = new Set<ChildProcess>();

/** Kills a group that the harness started, and resolves when its leader has exited. */
export const killGroup = async (leader: ChildProcess): Promise<void> => {
  if (!running.delete(leader)) return;
  const exited = leader.exitCode === null && leader.signalCode === null ? once(leader, 'exit') : undefined;
  signalGroup(leader);
  await exited;
};

const signalGroup = ({ pid }: ChildProcess): void => {
  try {
    process.kill(-(pid as number), 'SIGKILL');
  } catch {
    // Ignores the error if the whole group has exited already.
  }
};

process.on('exit', () => running.forEach(signalGroup));

/** Registers a detached process that a library has started, so that the harness kills it at exit. */
export const adoptGroup = <Leader extends ChildProcess>(leader: Leader): Leader => {
  running.add(leader);
  return leader;
};

export const startGroup = (
  command: string,
  args: readonly string[],
  {
    env = {},
    stdio = 'ignore',
  }: { env?: Record<string, string>; stdio?: 'ignore' | ['ignore', 'ignore', 'ignore', 'pipe'] },
): ChildProcess => {
  const leader = spawn(command, args, { detached: true, stdio, env: { ...process.env, ...env } });
  // If the command doesn't exist, the code that waits for it to be ready fails.
  leader.on('error', () => running.delete(leader));
  return adoptGroup(leader);
};

const readParent = (pid: number): number => {
  try {
    // The file has the form "pid (name) state parent …", and the name may contain any characters.
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]);
  } catch {
    return 0;
  }
};

const readCommandLine = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
};

/** Returns a harness process's descendants whose command line matches `commandLine`. */
export const findDescendants = ({ pid }: ChildProcess, commandLine: RegExp): number[] => {
  const parents = new Map(
    readdirSync('/proc').flatMap((entry) => (/^\d+$/.test(entry) ? [[Number(entry), readParent(Number(entry))]] : [])),
  );
  const isDescendant = (candidate: number | undefined): boolean =>
    candidate !== undefined && candidate > 1 && (candidate === pid || isDescendant(parents.get(candidate)));
  return [...parents.keys()].filter(
    (candidate) => candidate !== pid && isDescendant(candidate) && commandLine.test(readCommandLine(candidate)),
  );
};

/** Kills these processes, then gives the browser time to notice and to replace its spare processes. */
export const crash = async (processes: readonly number[]): Promise<void> => {
  if (processes.length === 0) throw new Error('found no process to crash');
  for (const each of processes) process.kill(each, 'SIGKILL');
  await new Promise((resolve) => setTimeout(resolve, 700));
};

/** Polls until the result is neither undefined nor null. After the timeout, throws an error that names `what`. */
export const waitFor = async <Result>(
  what: string,
  poll: () => Result | undefined | Promise<Result | undefined>,
  milliseconds = testTimeoutMilliseconds,
): Promise<Result> => {
  const end = performance.now() + milliseconds;
  for (;;) {
    const result = await poll();
    if (result !== undefined && result !== null) return result;
    if (performance.now() > end) throw new Error(`timed out after ${milliseconds} ms waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

/** A driver did not respond in time. */
export class DriverTimeout extends Error {}

/**
 * Returns a driver's response, or throws DriverTimeout: a script may never return if its page is left at that moment.
 */
export const withTimeout = async <Result>(
  what: string,
  result: Promise<Result>,
  milliseconds = 20_000,
): Promise<Result> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DriverTimeout(`no response to ${what}`)), milliseconds);
  });
  try {
    return await Promise.race([result, timeout]);
  } finally {
    clearTimeout(timer);
  }
};
