/**
 * Runs DuckDB in a separate process, so that a crash in native code or running out of memory does not bring down the
 * server. The next request starts a new process.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { EngineRequest, EngineRequests, EngineSettings, Reply, RequestName } from './messages.ts';

const start = fileURLToPath(new URL('./engine-start.cjs', import.meta.url));
const source = fileURLToPath(new URL('./engine/report-engine.ts', import.meta.url));

/** How long to wait for an interrupted query, which ends within milliseconds, before the process is killed. */
const interruptMilliseconds = 5_000;
/**
 * How long to wait for the process to end: a server must stop within ten seconds (deploy/), and its requests can take
 * four of them (serving/serve.ts). Events that the process doesn't write in time are read from the store again.
 */
const endMilliseconds = 3_000;

/**
 * How long to wait before restarting a process that can't work, because DuckDB is missing or another server uses the
 * folder.
 */
const unusableMilliseconds = 5_000;

/** The process exited, could not be started, or failed to execute a request. */
class EngineFault extends Error {
  override readonly name: string = 'EngineFault';
}
class EngineUnusable extends EngineFault {}
/**
 * The process no longer has the account's state, because it exited normally or closed the account. Retry from the
 * start.
 */
export class StateLost extends EngineFault {}
/** The request needs more memory than DuckDB is allowed to use. */
export class OutOfMemory extends EngineFault {}
/** The query's signal interrupted it. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

interface PendingReply {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const startProcess = (settings: EngineSettings, requestTimeoutMilliseconds: number) => {
  mkdirSync(settings.folder, { recursive: true, mode: 0o700 });
  const child: ChildProcess = fork(start, [source, String(settings.niceness)], {
    cwd: settings.folder,
    // Does not pass on the server's environment, which contains secrets. More than two malloc arenas would only
    // fragment memory (mallopt(3)).
    env: { MALLOC_ARENA_MAX: '2' },
    // Sets the server's heap limit (bin/heap.js).
    execArgv: ['--heap-growing-percent=20', '--max-semi-space-size=8'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const pending = new Map<number, PendingReply>();
  let lastID = 0;
  let ended: EngineFault | undefined;

  const end = (reason: string | EngineFault) => {
    if (ended) return;
    ended = typeof reason === 'string' ? new EngineFault(reason) : reason;
    for (const { reject } of pending.values()) reject(ended);
    pending.clear();
    child.kill('SIGKILL');
  };
  child.on('error', (error) => end(`the report process failed: ${error.message}`));
  const exited = new Promise<void>((resolve) => {
    child.on('exit', (code, signal) => {
      end(`the report process ended with ${signal ?? code}`);
      resolve();
    });
    child.on('error', () => resolve());
  });
  child.on('message', (reply: Reply) => {
    if ('missing' in reply) return end(new EngineUnusable(`the report process can't run: ${reply.missing}`));
    if ('ends' in reply) return end(new StateLost('the report process has ended'));
    const pendingReply = pending.get(reply.id);
    pending.delete(reply.id);
    if ('forgotten' in reply) pendingReply?.reject(new StateLost('the account is not open in the report process'));
    else if ('error' in reply) {
      // Matches the errors of reports that need too much memory or exceed a limit of DuckDB's planner.
      const isTooMuch = /^Out of Memory|Maximum tree depth/.test(reply.error);
      pendingReply?.reject(isTooMuch ? new OutOfMemory(reply.error) : new EngineFault(reply.error));
    } else pendingReply?.resolve(reply.value);
  });
  const post = (message: EngineRequest | EngineSettings) => {
    if (child.connected) child.send(message, (error) => error && end(`the report process is gone: ${error.message}`));
  };
  post(settings);

  return {
    /** Why the process exited; undefined while it runs. */
    fault: () => ended,
    exited,
    processID: child.pid,
    kill: end,
    async send<Name extends RequestName>(
      name: Name,
      request: EngineRequests[Name]['send'],
      signal?: AbortSignal,
    ): Promise<EngineRequests[Name]['receive']> {
      if (ended) throw ended;
      lastID += 1;
      const id = lastID;
      let killTimer: NodeJS.Timeout | undefined;
      const replyTimer = setTimeout(() => end('the report process does not respond'), requestTimeoutMilliseconds);
      const interrupt = () => {
        post({ id, do: 'cancel' });
        killTimer = setTimeout(() => end('a query could not be interrupted'), interruptMilliseconds);
      };
      try {
        const reply = new Promise<unknown>((resolve, reject) => pending.set(id, { resolve, reject }));
        post({ ...request, id, do: name } as unknown as EngineRequest);
        if (signal?.aborted) interrupt();
        else signal?.addEventListener('abort', interrupt, { once: true });
        const value = (await reply) as EngineRequests[Name]['receive'];
        // Checks the signal, because the last statement might have completed before the interrupt.
        signal?.throwIfAborted();
        return value;
      } catch (error) {
        if (signal?.aborted) throw new Interrupted();
        throw error;
      } finally {
        clearTimeout(killTimer);
        clearTimeout(replyTimer);
        signal?.removeEventListener('abort', interrupt);
      }
    },
  };
};

/**
 * Starts the process on the first request, and again after the process exits. Kills the process if it does not reply to
 * a request in time.
 */
export const createEngineProcess = (settings: EngineSettings, requestTimeoutMilliseconds: number) => {
  let running: ReturnType<typeof startProcess> | undefined;
  let starts = 0;
  let unusable: { readonly fault: EngineUnusable; readonly until: number } | undefined;
  /** Resolves when the previous process has exited, because two processes must not write the same files. */
  let ended: Promise<void> = Promise.resolve();
  const endProcess = async (ending: ReturnType<typeof startProcess>): Promise<void> => {
    const killTimer = setTimeout(() => ending.kill('it did not end'), endMilliseconds);
    await ending.send('end', {}).catch(() => {});
    await ending.exited;
    clearTimeout(killTimer);
  };
  return {
    /** Rejects with EngineFault, or with Interrupted when `signal` aborts before the reply. */
    async send<Name extends RequestName>(name: Name, request: EngineRequests[Name]['send'], signal?: AbortSignal) {
      // Checks again after each wait, because concurrent calls can end or start a process in the meantime.
      for (let awaited: Promise<void> | undefined; awaited !== ended; ) {
        awaited = ended;
        await awaited;
        const fault = running?.fault();
        if (awaited !== ended || running === undefined || fault === undefined) continue;
        if (fault instanceof EngineUnusable) unusable = { fault, until: Date.now() + unusableMilliseconds };
        ended = running.exited;
        running = undefined;
      }
      if (running === undefined && unusable !== undefined && Date.now() < unusable.until) throw unusable.fault;
      if (running === undefined) {
        running = startProcess(settings, requestTimeoutMilliseconds);
        starts += 1;
      }
      return running.send(name, request, signal);
    },
    /** The number of processes started so far. */
    starts: (): number => starts,
    processID: (): number | undefined => (running?.fault() === undefined ? running?.processID : undefined),
    /** Ends the process. It first writes the events that are only in memory, unless that takes too long. */
    async end(): Promise<void> {
      if (running) ended = endProcess(running);
      running = undefined;
      await ended;
    },
  };
};
export type EngineProcess = ReturnType<typeof createEngineProcess>;
