/** Runs strace, either to log in order what a process does to its disk, or to make its calls fail. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';

/** Returns the command that runs another command under strace. */
export const strace = (log: string, ...options: readonly string[]): string[] => [
  'strace',
  '-f',
  // Makes strace much faster, but strace 6.1 injects no signals with this option.
  ...(options.some((option) => option.includes('signal=')) ? [] : ['--seccomp-bpf']),
  '-y',
  '-o',
  log,
  ...options,
  '--',
];

/** Starts strace on a running process and all its threads. Returns the tracer, or its error message. */
const tryToAttach = async (pid: number, log: string, options: readonly string[]): Promise<ChildProcess | string> => {
  const tracer = spawn('strace', ['-f', '-y', '-o', log, ...options, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errorText = '';
  return new Promise((resolve) => {
    tracer.stderr.setEncoding('utf8').on('data', (text: string) => {
      errorText += text;
      if (errorText.includes(' attached')) resolve(tracer);
    });
    tracer.once('exit', () => resolve(errorText));
  });
};

/** Attaches strace to a running process and all its threads. Returns a function that detaches strace. */
export const attachStrace = async (pid: number, log: string, ...options: readonly string[]) => {
  // Retries, because strace gives up if a thread ends while it attaches.
  for (let left = 5; ; left -= 1) {
    const tracer = await tryToAttach(pid, log, options);
    if (typeof tracer !== 'string') {
      const ended = once(tracer, 'exit');
      return async () => {
        tracer.kill('SIGINT');
        await ended;
      };
    }
    if (left === 0) throw new Error(`strace did not attach to ${pid}: ${tracer}`);
  }
};

export interface TracedCall {
  readonly thread: string;
  /** `fsync(19</data/firsthand.db-wal>) = 0`, joined if strace split it around another thread's call. */
  readonly text: string;
  /** The log lines where the call began and ended; `ended` is `Infinity` if the log does not contain the end. */
  readonly began: number;
  readonly ended: number;
}

/** The completed calls in a log, in the order in which they ended. */
export const readCompletedCalls = (log: string): TracedCall[] =>
  readCalls(log).filter(({ ended }) => ended !== Number.POSITIVE_INFINITY);

/**
 * Returns all calls in a log. Unfinished calls come last: the process ended during the call, or strace was detached.
 * The kernel might have completed such a call; for example, a response might have reached the client.
 */
export const readCalls = (log: string): TracedCall[] =>
  existsSync(log) ? parseCalls(readFileSync(log, 'latin1')) : [];

/** Parses a log's text; see `readCalls`. */
export const parseCalls = (text: string): TracedCall[] => {
  const unfinished = new Map<string, { text: string; began: number }>();
  const calls: TracedCall[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1];
    // The call was interrupted: by another thread's call, by the end of the process, or by detaching strace.
    const [cut] = /\s*<(?:unfinished|detached) \.\.\.>$/.exec(rest) ?? [];
    if (cut !== undefined) unfinished.set(thread, { text: rest.slice(0, -cut.length), began: at });
    else if (resumed === undefined) calls.push({ thread, text: rest, began: at, ended: at });
    else {
      const { text, began } = unfinished.get(thread) ?? { text: '', began: at };
      unfinished.delete(thread);
      calls.push({ thread, text: text + resumed, began, ended: at });
    }
  }
  const neverFinished = [...unfinished].map(([thread, call]) => ({ thread, ...call, ended: Number.POSITIVE_INFINITY }));
  return [...calls, ...neverFinished];
};

export const isResponse = ({ text }: TracedCall): boolean => text.includes('"HTTP/1.1 200');
export const isSync = ({ text }: TracedCall): boolean =>
  /^f(?:data)?sync\(\d+<[^>]*-wal>/.test(text) && / = 0$/.test(text);
