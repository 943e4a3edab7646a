/** strace: what a process does to its disk, told in order, or made to fail. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';

/** The command that runs another under strace. */
export const strace = (log: string, ...options: readonly string[]): string[] => [
  'strace',
  '-f',
  // Faster by far; but strace 6.1 sends no signals with it.
  ...(options.some((option) => option.includes('signal=')) ? [] : ['--seccomp-bpf']),
  '-y',
  '-o',
  log,
  ...options,
  '--',
];

/** Starts strace on a running process and all its threads; answers it, or what it complained of. */
const tryToAttach = async (pid: number, log: string, options: readonly string[]): Promise<ChildProcess | string> => {
  const tracer = spawn('strace', ['-f', '-y', '-o', log, ...options, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  return new Promise((resolve) => {
    tracer.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes(' attached')) resolve(tracer);
    });
    tracer.once('exit', () => resolve(said));
  });
};

/** Attaches strace to a running process and all its threads; answers how to let go of it. */
export const attachStrace = async (pid: number, log: string, ...options: readonly string[]) => {
  // A thread that ends just then makes it give up.
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
  /** `fsync(19</data/firsthand.db-wal>) = 0`, put together again where another thread's call came between. */
  readonly text: string;
  /** The lines of the log where it began and where it had ended; `Infinity` if the log has no end of it. */
  readonly began: number;
  readonly ended: number;
}

/** The calls of a log that have ended, in the order in which they ended. */
export const callsIn = (log: string): TracedCall[] =>
  callsBegunIn(log).filter(({ ended }) => ended !== Number.POSITIVE_INFINITY);

/**
 * The calls of a log, also those without an end in it, which come last: the process ended during the call, or strace was detached.
 * The kernel may have completed such a call; an answer, for example, may have reached the client.
 */
export const callsBegunIn = (log: string): TracedCall[] =>
  existsSync(log) ? parseCalls(readFileSync(log, 'latin1')) : [];

/** As `callsBegunIn`, of what the log holds. */
export const parseCalls = (text: string): TracedCall[] => {
  const unfinished = new Map<string, { text: string; began: number }>();
  const calls: TracedCall[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1];
    // Another thread's call comes between, or the process ends, or strace lets go of it, before the call has ended.
    const [cut] = /\s*<(?:unfinished|detached) \.\.\.>$/.exec(rest) ?? [];
    if (cut !== undefined) unfinished.set(thread, { text: rest.slice(0, -cut.length), began: at });
    else if (resumed === undefined) calls.push({ thread, text: rest, began: at, ended: at });
    else {
      const { text, began } = unfinished.get(thread) ?? { text: '', began: at };
      unfinished.delete(thread);
      calls.push({ thread, text: text + resumed, began, ended: at });
    }
  }
  const neverEnded = [...unfinished].map(([thread, call]) => ({ thread, ...call, ended: Number.POSITIVE_INFINITY }));
  return [...calls, ...neverEnded];
};

export const isAnswer = ({ text }: TracedCall): boolean => text.includes('"HTTP/1.1 200');
export const isSync = ({ text }: TracedCall): boolean =>
  /^f(?:data)?sync\(\d+<[^>]*-wal>/.test(text) && / = 0$/.test(text);
