/** Runs reports: brings the engine up to date with the store, then queries it. */
import { readdir } from 'node:fs/promises';
import { createFairQueue } from '../shared/fair-queue.ts';
import { Refusal } from '../shared/refusal.ts';
import type { ReportFeed } from '../store/report-feed.ts';
import { createEngineProcess, Interrupted, OutOfMemory, StateLost } from './engine-process.ts';
import { followFeed } from './follow-feed.ts';
import type { ReportQuery, ReportResult, Reports, ResultOf, RunReportOptions } from './queries.ts';

export interface ReportsOptions {
  readonly feed: ReportFeed;
  /** The absolute path of the folder for report files, which must contain nothing else. */
  readonly folder: string;
  /** DuckDB's memory limit in bytes. */
  readonly memory: number;
  readonly threads: number;
  /** Called when the engine fails. The report itself is refused. */
  readonly onFault?: (error: Error) => void;
  /** The time limit of a query; must be less than `requestTimeoutMilliseconds`. */
  readonly limitMilliseconds?: number;
  /**
   * How long a report waits for the engine to catch up; by default, `limitMilliseconds`. If an account's first report
   * is refused, its files keep building in the background.
   */
  readonly buildMilliseconds?: number;
  /** The process is killed if a request gets no reply within this time. */
  readonly requestTimeoutMilliseconds?: number;
  /** The process exits after this time without a report. */
  readonly idleMilliseconds?: number;
  /** The maximum number of events in a file. */
  readonly eventsPerFile?: number;
  /** The nice(1) increment of the process once it has started, up to 19, so that ingestion takes precedence. */
  readonly niceness?: number;
}

/**
 * The maximum number of running reports. One account can run at most two, because the queue reserves the last slot for
 * other accounts.
 */
const maxRunning = 3;
const maxWaiting = 19;
/**
 * The maximum number of running or waiting reports for one account, or for all share links together, which leaves slots
 * for other accounts.
 */
const maxPerAccount = 11;
const retryAfterSeconds = 5;
const outOfMemoryMessage = 'the report needs more memory than allowed: use a shorter range or a narrower filter';

/**
 * Shares runs of `work` between callers. A call during a run waits for the next run, which all waiting callers share,
 * because a caller needs a run that begins after the call.
 */
const createSharedRuns = (work: (account: number) => Promise<void>) => {
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
/** Retries after the report process has lost its state, for example because it exited to delete spilled data. */
const retryStateLost = async <Value>(work: () => Promise<Value>): Promise<Value> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StateLost) || attempt === maxAttempts) throw error;
    }
  }
};

/** Resolves to whether the promise resolves within the time and before the signal aborts. */
const resolvesInTime = async (promise: Promise<void>, milliseconds: number, signal: AbortSignal | undefined) => {
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

const withLimit = (signal: AbortSignal | undefined, milliseconds: number): AbortSignal => {
  signal?.throwIfAborted();
  const limit = AbortSignal.timeout(milliseconds);
  return signal ? AbortSignal.any([signal, limit]) : limit;
};

const unavailable = (cause?: unknown) => new Refusal('no_reports', { retryAfterSeconds, cause });

/** Converts an error to a refusal; undefined for a fault of the engine. */
const toRefusal = (error: unknown): Refusal | undefined => {
  if (error instanceof Interrupted) return new Refusal('report_too_slow');
  if (error instanceof OutOfMemory) return new Refusal('report_too_slow', { message: outOfMemoryMessage });
  return error instanceof Refusal ? error : undefined;
};

/** Counts waiting and running reports, and refuses reports beyond the limits. */
const createAdmission = () => {
  let active = 0;
  let activeShared = 0;
  const activeByAccount = new Map<number, number>();
  return {
    active: () => active,
    /** Runs a report when its turn comes. Rejects with a Refusal if too many are waiting. */
    async admit<Value>(
      account: number,
      { signal, isShared = false }: RunReportOptions,
      work: () => Promise<Value>,
    ): Promise<Value> {
      signal?.throwIfAborted();
      const accountReports = activeByAccount.get(account) ?? 0;
      const isFull = active >= maxRunning + maxWaiting || accountReports >= maxPerAccount;
      if (isFull || (isShared && activeShared >= maxPerAccount)) throw unavailable();
      active += 1;
      activeShared += Number(isShared);
      activeByAccount.set(account, accountReports + 1);
      try {
        return await work();
      } finally {
        active -= 1;
        activeShared -= Number(isShared);
        const rest = (activeByAccount.get(account) ?? 0) - 1;
        if (rest > 0) activeByAccount.set(account, rest);
        else activeByAccount.delete(account);
      }
    },
  };
};

/** Counts concurrent uses of the engine, and ends it after `idleMilliseconds` without any. */
const createUses = (end: () => Promise<void>, idleMilliseconds: number) => {
  let uses = 0;
  let idle: NodeJS.Timeout | undefined;
  let closed = false;
  return {
    /**
     * Runs `work`; until it ends, the process does not count as idle. Rejects with a Refusal once the reports are
     * closed.
     */
    async use<Value>(work: () => Promise<Value>): Promise<Value> {
      if (closed) throw unavailable();
      clearTimeout(idle);
      uses += 1;
      try {
        return await work();
      } finally {
        uses -= 1;
        if (uses === 0 && !closed) idle = setTimeout(end, idleMilliseconds).unref();
      }
    },
    close(): Promise<void> {
      closed = true;
      clearTimeout(idle);
      return end();
    },
  };
};

export interface ReportsMeasures {
  /** The number of running or waiting reports. */
  readonly underWay: number;
  /** How many times the process was started. */
  readonly starts: number;
  /** How many times the engine failed. */
  readonly faults: number;
  readonly processID: number | undefined;
}

/** Reports with their files, which are in a folder with a subfolder for each account. */
export interface FiledReports extends Reports {
  accountsWithFiles(): Promise<number[]>;
  /**
   * Resolves when none of the account's files contains an event whose erasure was stored before the call. Resolves
   * immediately if the account has no files. Rejects like `run`.
   */
  purged(account: number): Promise<void>;
  /** Deletes the files of an account that was deleted from the store. Rejects like `run`. */
  forget(account: number): Promise<void>;
  /** The report process; undefined while none is running. */
  readonly processID: number | undefined;
  measure(): ReportsMeasures;
}

/** Lists accounts by the names of their folders, which are their numbers (engine/account.ts). */
const listAccounts = async (folder: string): Promise<number[]> =>
  (await readdir(folder).catch(() => [])).filter((name) => /^\d{1,15}$/.test(name)).map(Number);

export const createReports = ({
  feed,
  folder,
  memory,
  threads,
  onFault = () => {},
  limitMilliseconds = 10_000,
  buildMilliseconds = limitMilliseconds,
  requestTimeoutMilliseconds = 5 * 60_000,
  idleMilliseconds = 5 * 60_000,
  eventsPerFile = 1_000_000,
  niceness = 5,
}: ReportsOptions): FiledReports => {
  const engine = createEngineProcess(
    { folder, memoryBytes: memory, threads, eventsPerFile, niceness },
    requestTimeoutMilliseconds,
  );
  const takeTurn = createFairQueue(maxRunning);
  const { active, admit } = createAdmission();
  const { use, close } = createUses(() => engine.end(), idleMilliseconds);
  let faults = 0;

  const fail = (error: unknown): never => {
    faults += 1;
    onFault(error as Error);
    throw unavailable(error);
  };
  const follow = createSharedRuns((account) =>
    use(() => retryStateLost(() => followFeed(feed, engine, account))).catch(fail),
  );
  const runQuery = async <One extends ReportQuery>(
    query: One,
    options: RunReportOptions,
  ): Promise<ReportResult<One>> => {
    const { signal, isShared } = options;
    const following = follow(query.account);
    // Handled here too, because the promise might reject after this query has stopped waiting.
    following.catch(() => {});
    if (!(await resolvesInTime(following, buildMilliseconds, signal))) {
      signal?.throwIfAborted();
      throw unavailable();
    }
    const outcome = await takeTurn({ account: query.account, isShared }, () =>
      engine.send('run', { query }, withLimit(signal, limitMilliseconds)),
    );
    // Retries if there is no result, because the files were damaged. The retry rebuilds them.
    return outcome ? { ...outcome, result: outcome.result as ResultOf<One> } : runQuery(query, options);
  };

  return {
    async run(query, options = {}) {
      try {
        return await admit(query.account, options, () => use(() => retryStateLost(() => runQuery(query, options))));
      } catch (error) {
        options.signal?.throwIfAborted();
        throw toRefusal(error) ?? fail(error);
      }
    },
    prepare: (account, task, options = {}) =>
      admit(account, options, () =>
        takeTurn({ account, isShared: options.isShared }, async () => {
          const signal = withLimit(options.signal, limitMilliseconds);
          try {
            return await task(signal);
          } catch (error) {
            options.signal?.throwIfAborted();
            throw signal.aborted ? new Refusal('report_too_slow', { cause: error }) : error;
          }
        }),
      ),
    accountsWithFiles: () => listAccounts(folder),
    async purged(account) {
      if (!(await listAccounts(folder)).includes(account)) return;
      await use(async () => {
        try {
          await retryStateLost(async () => {
            await follow(account);
            await engine.send('purge', { account });
          });
        } catch (error) {
          throw error instanceof Refusal ? error : fail(error);
        }
      });
    },
    forget: (account) => use(() => retryStateLost(() => engine.send('forget', { account }))).catch(fail),
    get processID() {
      return engine.processID();
    },
    measure: () => ({ underWay: active(), starts: engine.starts(), faults, processID: engine.processID() }),
    close,
  };
};
