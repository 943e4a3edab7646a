/** Answers reports: brings the engine up to date with the store, then asks it. */
import { readdir } from 'node:fs/promises';
import { Refusal } from '../shared/refusal.ts';
import { createTurns } from '../shared/turns.ts';
import type { ReportFeed } from '../store/report-feed.ts';
import { createEngineProcess, Forgotten, Interrupted, OutOfMemory } from './engine-process.ts';
import { followFeed } from './following.ts';
import type { AnswerTo, AskOptions, Question, Reported, Reports } from './questions.ts';

export interface ReportsOptions {
  readonly feed: ReportFeed;
  /** Where the files of reports are written. Absolute; nothing else may be kept in it. */
  readonly folder: string;
  /** What DuckDB may hold in memory, in bytes. */
  readonly memory: number;
  readonly threads: number;
  /** Receives why the engine failed. The report itself is refused. */
  readonly onFault?: (error: Error) => void;
  /** How long a query may take; less than `orderMilliseconds`. */
  readonly limitMilliseconds?: number;
  /** How long a report waits for what is new of its account; as long as a query may take unless given. The first report builds files, which goes on when it is refused. */
  readonly buildMilliseconds?: number;
  /** After this time an order that has no reply ends the process. */
  readonly orderMilliseconds?: number;
  /** After this time without a report the process ends. */
  readonly idleMilliseconds?: number;
  /** How many events a file holds when it is full. */
  readonly eventsOfFile?: number;
  /** By how much the priority of the process is below that of the server once it has started, up to 19 (nice(1)): ingestion goes first. */
  readonly niceness?: number;
}

/** One account runs at most two, because the last place is not for it (turns.ts). */
const maxRunning = 3;
const maxWaiting = 19;
/** Reports of one account, or of all share links, that run or wait, so that others find a place. */
const maxOfAccount = 11;
const retryAfterSeconds = 5;
const tooMuchMemory =
  'the report needs more memory than it may take: ask about a shorter range, or with a narrower filter';

/**
 * Shares the work of callers. A caller's work must begin after its call, so a call during a work waits for the next one, which it shares
 * with all others that wait.
 */
const createRounds = (work: (account: number) => Promise<void>) => {
  const rounds = new Map<number, { readonly current: Promise<void>; next: Promise<void> | undefined }>();
  const begin = (account: number): Promise<void> => {
    const current = work(account);
    const round: { readonly current: Promise<void>; next: Promise<void> | undefined } = { current, next: undefined };
    rounds.set(account, round);
    const settle = () => {
      if (rounds.get(account) === round && round.next === undefined) rounds.delete(account);
    };
    current.then(settle, settle);
    return current;
  };
  return (account: number): Promise<void> => {
    const round = rounds.get(account);
    if (!round) return begin(account);
    round.next ??= round.current.then(
      () => begin(account),
      () => begin(account),
    );
    return round.next;
  };
};

const maxAttempts = 3;
/** Works again when the process of reports has ended meanwhile, as it does when it removes what it has spilled. */
const surviving = async <Value>(work: () => Promise<Value>): Promise<Value> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Forgotten) || attempt === maxAttempts) throw error;
    }
  }
};

/** Resolves to false when the promise takes longer, or the signal aborts before it. */
const isInTime = async (promise: Promise<void>, milliseconds: number, signal: AbortSignal | undefined) => {
  let timer: NodeJS.Timeout | undefined;
  let giveUp: (() => void) | undefined;
  const late = new Promise<false>((resolve) => {
    giveUp = () => resolve(false);
    timer = setTimeout(giveUp, milliseconds);
    signal?.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
    if (giveUp) signal?.removeEventListener('abort', giveUp);
  }
};

export interface ReportsMeasures {
  /** Reports that are answered or wait. */
  readonly underWay: number;
  /** How often the process was started, and how often the engine failed. */
  readonly starts: number;
  readonly faults: number;
  readonly processID: number | undefined;
}

/** Reports over files in a folder, with a folder in it for each account. */
export interface FiledReports extends Reports {
  accountsWithFiles(): Promise<number[]>;
  /**
   * Resolves when no file of the account holds an event whose erasure was stored when it was called; at once if the account has no files.
   * Rejects as `ask` does.
   */
  purged(account: number): Promise<void>;
  /** Deletes the files of an account that the store has deleted. Rejects as `ask` does. */
  forget(account: number): Promise<void>;
  /** Of the process that runs DuckDB; undefined while there is none. */
  readonly processID: number | undefined;
  measure(): ReportsMeasures;
}

export const createReports = ({
  feed,
  folder,
  memory,
  threads,
  onFault = () => {},
  limitMilliseconds = 10_000,
  buildMilliseconds = limitMilliseconds,
  orderMilliseconds = 5 * 60_000,
  idleMilliseconds = 5 * 60_000,
  eventsOfFile = 1_000_000,
  niceness = 5,
}: ReportsOptions): FiledReports => {
  const engine = createEngineProcess(
    { folder, memoryBytes: memory, threads, eventsOfFile, niceness },
    orderMilliseconds,
  );
  const takeTurn = createTurns(maxRunning);
  let asking = 0;
  let askingShared = 0;
  let faults = 0;
  const askingOf = new Map<number, number>();
  let uses = 0;
  let idle: NodeJS.Timeout | undefined;
  let closed = false;

  /** The folder of an account is named after its number (engine/account.ts). */
  const accountsWithFiles = async (): Promise<number[]> =>
    (await readdir(folder).catch(() => [])).filter((name) => /^\d{1,15}$/.test(name)).map(Number);
  const unavailable = (cause?: unknown) => new Refusal('no_reports', { retryAfterSeconds, cause });
  const fail = (error: unknown): never => {
    faults += 1;
    onFault(error as Error);
    throw unavailable(error);
  };
  /** Counts a use of the engine, so that it ends only when it is not used. */
  const use = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (closed) throw unavailable();
    clearTimeout(idle);
    uses += 1;
    try {
      return await work();
    } finally {
      uses -= 1;
      if (uses === 0 && !closed) idle = setTimeout(() => engine.end(), idleMilliseconds).unref();
    }
  };
  const follow = createRounds((account) => use(() => surviving(() => followFeed(feed, engine, account))).catch(fail));
  const limited = (signal: AbortSignal | undefined): AbortSignal => {
    signal?.throwIfAborted();
    const limit = AbortSignal.timeout(limitMilliseconds);
    return signal ? AbortSignal.any([signal, limit]) : limit;
  };
  const query = async <One extends Question>(question: One, options: AskOptions): Promise<Reported<One>> => {
    const { signal, isShared } = options;
    const following = follow(question.account);
    // It may fail after nobody waits for it any more.
    following.catch(() => {});
    if (!(await isInTime(following, buildMilliseconds, signal))) {
      signal?.throwIfAborted();
      throw unavailable();
    }
    const reported = await takeTurn({ account: question.account, isShared }, () =>
      engine.send('ask', { question }, limited(signal)),
    );
    // Damaged files are found at most once: from then on they are new.
    return reported ? { ...reported, answer: reported.answer as AnswerTo<One> } : query(question, options);
  };
  /** Counts a report while it waits and runs. Throws Refusal when there are too many. */
  const admitted = async <Value>(
    account: number,
    { signal, isShared = false }: AskOptions,
    work: () => Promise<Value>,
  ): Promise<Value> => {
    signal?.throwIfAborted();
    const ofAccount = askingOf.get(account) ?? 0;
    const isFull = asking >= maxRunning + maxWaiting || ofAccount >= maxOfAccount;
    if (isFull || (isShared && askingShared >= maxOfAccount)) throw unavailable();
    asking += 1;
    askingShared += Number(isShared);
    askingOf.set(account, ofAccount + 1);
    try {
      return await work();
    } finally {
      asking -= 1;
      askingShared -= Number(isShared);
      const rest = (askingOf.get(account) ?? 0) - 1;
      if (rest > 0) askingOf.set(account, rest);
      else askingOf.delete(account);
    }
  };

  return {
    async ask(question, options = {}) {
      try {
        return await admitted(question.account, options, () => use(() => surviving(() => query(question, options))));
      } catch (error) {
        options.signal?.throwIfAborted();
        if (error instanceof Refusal) throw error;
        if (error instanceof Interrupted) throw new Refusal('report_too_slow');
        if (error instanceof OutOfMemory) throw new Refusal('report_too_slow', { message: tooMuchMemory });
        return fail(error);
      }
    },
    prepare: (account, task, options = {}) =>
      admitted(account, options, () =>
        takeTurn({ account, isShared: options.isShared }, async () => {
          const signal = limited(options.signal);
          try {
            return await task(signal);
          } catch (error) {
            options.signal?.throwIfAborted();
            throw signal.aborted ? new Refusal('report_too_slow', { cause: error }) : error;
          }
        }),
      ),
    accountsWithFiles,
    async purged(account) {
      if (!(await accountsWithFiles()).includes(account)) return;
      await use(async () => {
        try {
          await surviving(async () => {
            await follow(account);
            await engine.send('purge', { account });
          });
        } catch (error) {
          throw error instanceof Refusal ? error : fail(error);
        }
      });
    },
    forget: (account) => use(() => surviving(() => engine.send('forget', { account }))).catch(fail),
    get processID() {
      return engine.processID();
    },
    measure: () => ({ underWay: asking, starts: engine.starts(), faults, processID: engine.processID() }),
    async close() {
      closed = true;
      clearTimeout(idle);
      await engine.end();
    },
  };
};
