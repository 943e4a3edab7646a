/**
 * The process that runs DuckDB, as the server sees it. A fault of native code or of memory ends that process and not the server; the next
 * order starts it again.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { EngineSettings, Order, OrderName, Orders, Reply } from './messages.ts';

const start = fileURLToPath(new URL('./engine-start.cjs', import.meta.url));
const source = fileURLToPath(new URL('./engine/report-engine.ts', import.meta.url));

/** An interrupted query ends within milliseconds; a process that does not even answer is killed. */
const patienceMilliseconds = 5_000;
/** A stop of the server has ten seconds (deploy/), and requests may take four of them (serving/serve.ts). What is not written is read again. */
const endMilliseconds = 3_000;

/** A process that can't do its work, because DuckDB is missing or another server has the folder, is not started again before. */
const unusableMilliseconds = 5_000;

/** The process ended, could not be started, or failed to carry out an order. */
class EngineFault extends Error {
  override readonly name: string = 'EngineFault';
}
class Unusable extends EngineFault {}
/** The process that knew the account has ended as it had to: another one has to be told everything again. */
export class Forgotten extends EngineFault {}
/** The order needs more memory than DuckDB may take. */
export class OutOfMemory extends EngineFault {}
/** The query was interrupted because of its signal. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const startProcess = (settings: EngineSettings, orderMilliseconds: number) => {
  mkdirSync(settings.folder, { recursive: true, mode: 0o700 });
  const child: ChildProcess = fork(start, [source, String(settings.niceness)], {
    cwd: settings.folder,
    // Secrets of the server's environment stay in the server. More arenas of malloc than threads only scatter what is freed (mallopt(3)).
    env: { MALLOC_ARENA_MAX: '2' },
    // Collects garbage when the heap has grown by a fifth (bin/heap.js).
    execArgv: ['--heap-growing-percent=20', '--max-semi-space-size=8'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const waiting = new Map<number, Waiting>();
  let lastID = 0;
  let ended: EngineFault | undefined;

  const end = (reason: string | EngineFault) => {
    if (ended) return;
    ended = typeof reason === 'string' ? new EngineFault(reason) : reason;
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
    child.kill('SIGKILL');
  };
  child.on('error', (error) => end(`the process of reports failed: ${error.message}`));
  const exited = new Promise<void>((resolve) => {
    child.on('exit', (code, signal) => {
      end(`the process of reports ended with ${signal ?? code}`);
      resolve();
    });
    child.on('error', () => resolve());
  });
  child.on('message', (reply: Reply) => {
    if ('missing' in reply) return end(new Unusable(`the process of reports can't run: ${reply.missing}`));
    if ('ends' in reply) return end(new Forgotten('the process of reports has ended'));
    const asked = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ('forgotten' in reply) asked?.reject(new Forgotten('the process of reports does not know the account'));
    else if ('error' in reply) {
      // A question may also be more than DuckDB's planner takes.
      const isTooMuch = /^Out of Memory|Maximum tree depth/.test(reply.error);
      asked?.reject(isTooMuch ? new OutOfMemory(reply.error) : new EngineFault(reply.error));
    } else asked?.resolve(reply.value);
  });
  const post = (message: Order | EngineSettings) => {
    if (child.connected)
      child.send(message, (error) => error && end(`the process of reports is gone: ${error.message}`));
  };
  post(settings);

  return {
    /** Why it does not run any more. */
    fault: () => ended,
    exited,
    processID: child.pid,
    kill: end,
    async send<Name extends OrderName>(
      name: Name,
      order: Orders[Name]['send'],
      signal?: AbortSignal,
    ): Promise<Orders[Name]['receive']> {
      if (ended) throw ended;
      lastID += 1;
      const id = lastID;
      let tooLong: NodeJS.Timeout | undefined;
      const hangs = setTimeout(() => end('the process of reports does not answer'), orderMilliseconds);
      const interrupt = () => {
        post({ id, do: 'cancel' });
        tooLong = setTimeout(() => end('a query could not be interrupted'), patienceMilliseconds);
      };
      try {
        const reply = new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject }));
        post({ ...order, id, do: name } as unknown as Order);
        if (signal?.aborted) interrupt();
        else signal?.addEventListener('abort', interrupt, { once: true });
        const value = (await reply) as Orders[Name]['receive'];
        // Its last statement may have ended before it was interrupted.
        signal?.throwIfAborted();
        return value;
      } catch (error) {
        if (signal?.aborted) throw new Interrupted();
        throw error;
      } finally {
        clearTimeout(tooLong);
        clearTimeout(hangs);
        signal?.removeEventListener('abort', interrupt);
      }
    },
  };
};

/** Starts the process with the first order, and again when it has ended. A process that does not answer an order in time is killed. */
export const createEngineProcess = (settings: EngineSettings, orderMilliseconds: number) => {
  let running: ReturnType<typeof startProcess> | undefined;
  let starts = 0;
  let unusable: { readonly fault: Unusable; readonly until: number } | undefined;
  /** Two processes must not write the same files. */
  let ended: Promise<void> = Promise.resolve();
  const endProcess = async (ending: ReturnType<typeof startProcess>): Promise<void> => {
    const tooLong = setTimeout(() => ending.kill('it did not end'), endMilliseconds);
    await ending.send('end', {}).catch(() => {});
    await ending.exited;
    clearTimeout(tooLong);
  };
  return {
    /** Rejects with EngineFault, or with Interrupted when `signal` aborts before the reply. */
    async send<Name extends OrderName>(name: Name, order: Orders[Name]['send'], signal?: AbortSignal) {
      // Others may end or start a process during each wait.
      for (let awaited: Promise<void> | undefined; awaited !== ended; ) {
        awaited = ended;
        await awaited;
        const fault = running?.fault();
        if (awaited !== ended || running === undefined || fault === undefined) continue;
        if (fault instanceof Unusable) unusable = { fault, until: Date.now() + unusableMilliseconds };
        ended = running.exited;
        running = undefined;
      }
      if (running === undefined && unusable !== undefined && Date.now() < unusable.until) throw unusable.fault;
      if (running === undefined) {
        running = startProcess(settings, orderMilliseconds);
        starts += 1;
      }
      return running.send(name, order, signal);
    },
    /** How often a process was started. */
    starts: (): number => starts,
    processID: (): number | undefined => (running?.fault() === undefined ? running?.processID : undefined),
    /** Ends the process. What is only in its memory is written first, unless that takes too long. */
    async end(): Promise<void> {
      if (running) ended = endProcess(running);
      running = undefined;
      await ended;
    },
  };
};
export type EngineProcess = ReturnType<typeof createEngineProcess>;
