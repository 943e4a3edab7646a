/** Processes that the harness starts, each the leader of a group of its own, so that it ends those and no others. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { patienceMilliseconds } from '../patience.ts';

const running = new Set<ChildProcess>();

/** Kills a group that the harness started, and resolves when its leader is gone. */
export const killGroup = async (leader: ChildProcess): Promise<void> => {
  if (!running.delete(leader)) return;
  const gone = leader.exitCode === null && leader.signalCode === null ? once(leader, 'exit') : undefined;
  signalGroup(leader);
  await gone;
};

const signalGroup = ({ pid }: ChildProcess): void => {
  try {
    process.kill(-(pid as number), 'SIGKILL');
  } catch {
    // All of it is gone already.
  }
};

process.on('exit', () => running.forEach(signalGroup));

/** Takes responsibility for a process that a library has started, detached. */
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
  // A command that isn't there: whoever waits for it to be ready says so.
  leader.on('error', () => running.delete(leader));
  return adoptGroup(leader);
};

const parentOf = (pid: number): number => {
  try {
    // "pid (name) state parent …", and the name may hold anything.
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]);
  } catch {
    return 0;
  }
};

const commandLineOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
};

/** The descendants of a process that the harness started whose command line matches. */
export const findDescendants = ({ pid }: ChildProcess, commandLine: RegExp): number[] => {
  const parents = new Map(
    readdirSync('/proc').flatMap((entry) => (/^\d+$/.test(entry) ? [[Number(entry), parentOf(Number(entry))]] : [])),
  );
  const isOurs = (candidate: number | undefined): boolean =>
    candidate !== undefined && candidate > 1 && (candidate === pid || isOurs(parents.get(candidate)));
  return [...parents.keys()].filter(
    (candidate) => candidate !== pid && isOurs(candidate) && commandLine.test(commandLineOf(candidate)),
  );
};

/** Kills them, and gives the browser time to notice, and to replace those that it keeps in reserve. */
export const crash = async (processes: readonly number[]): Promise<void> => {
  if (processes.length === 0) throw new Error('there is no process to crash');
  for (const each of processes) process.kill(each, 'SIGKILL');
  await new Promise((resolve) => setTimeout(resolve, 700));
};

/** Asks until the answer is neither undefined nor null. Throws `what` after so long. */
export const waitFor = async <Answer>(
  what: string,
  ask: () => Answer | undefined | Promise<Answer | undefined>,
  milliseconds = patienceMilliseconds,
): Promise<Answer> => {
  const end = performance.now() + milliseconds;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== null) return answer;
    if (performance.now() > end) throw new Error(`waited ${milliseconds} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

/** A driver did not answer in time. */
export class NoAnswer extends Error {}

/** What a driver answers. Throws NoAnswer after so long: a script whose page is left at that moment may never be answered. */
export const answeredInTime = async <Answer>(
  what: string,
  answer: Promise<Answer>,
  milliseconds = 20_000,
): Promise<Answer> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer(`no answer to ${what}`)), milliseconds);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
};
