/** Opens a server's reports, keeps their files up to date, and makes erasure receipts wait for the files. */
import { readdir, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { nanoid } from 'nanoid';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { FiledReports } from '../reports/reports.ts';
import { repeat } from '../shared/repeat.ts';
import type { Store } from '../store/store.ts';

interface ReportsOptions {
  readonly store: Store;
  readonly config: Pick<Config, 'databaseURL' | 'reportsDir' | 'reportsMemory' | 'reportsThreads' | 'reportsSeconds'>;
  /** The report process's nice(1) increment. */
  readonly niceness?: number | undefined;
  readonly log: Logger;
}

/** How long an erasure waits for the files before its receipt reports `complete: false`. */
const receiptMs = 1_000;

const megabyte = 1024 * 1024;

/** Temporary folders are named after their process: its ID, and a random name in case the ID is reused. */
const temporaryFolder = /^firsthand-reports-(\d{1,10})-([\w-]{21})-[\w-]{21}$/;
/** In a container, the server has the same process ID after each restart. */
const processName = nanoid();

const isRunning = (pid: number, name: string | undefined): boolean => {
  if (pid === process.pid) return name === processName;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
};

const removeAll = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

/** Removes killed servers' temporary folders: they can contain events that were erased later. */
const removeStaleFolders = async (): Promise<void> => {
  for (const folder of await readdir(tmpdir())) {
    const [, pid, name] = temporaryFolder.exec(folder) ?? [];
    if (pid !== undefined && !isRunning(Number(pid), name)) await removeAll(join(tmpdir(), folder)).catch(() => {});
  }
};

/**
 * Returns the folder for the files: REPORTS_DIR, or next to the SQLite file. Other databases use a temporary folder,
 * which the first report creates and `remove` deletes.
 */
const chooseFolder = async ({ databaseURL, reportsDir }: ReportsOptions['config']) => {
  if (reportsDir !== undefined) return { folder: resolve(reportsDir), remove: async () => {} };
  const file = /^sqlite:(?!:memory:$)(.+)$/.exec(databaseURL)?.[1];
  if (file !== undefined) return { folder: resolve(`${file.replace(/\.db$/, '')}.reports`), remove: async () => {} };
  await removeStaleFolders();
  const folder = join(tmpdir(), `firsthand-reports-${process.pid}-${processName}-${nanoid()}`);
  return { folder, remove: () => removeAll(folder) };
};

/**
 * Wraps the store so that a receipt is `complete` only once the report files contain none of the erased contact's
 * events.
 */
export const withFilePurging = (store: Store, reports: Pick<FiledReports, 'purged'>): Store => ({
  ...store,
  async eraseContact(request) {
    const receipt = await store.eraseContact(request);
    const done = reports.purged(request.account).then(
      () => true,
      () => false,
    );
    if (!receipt.complete) return receipt;
    const isDone = await Promise.race([done, wait(receiptMs, false, { ref: false })]);
    return { ...receipt, complete: isDone };
  },
});

/**
 * Removes erased events from all files, `pauseMs` after a commit or a failure, which is logged. After each pause it
 * also deletes the files of accounts that a command deleted. Returns a function that stops this.
 */
export const startPurging = (
  reports: Pick<FiledReports, 'accountsWithFiles' | 'purged' | 'forget'>,
  {
    onCommit,
    listAccounts,
    log,
    pauseMs = 20_000,
  }: Pick<Store, 'onCommit' | 'listAccounts'> & Pick<ReportsOptions, 'log'> & { pauseMs?: number },
): (() => Promise<void>) => {
  let isDue = true;
  const stopListening = onCommit(() => {
    isDue = true;
  });
  const purgeAll = async (signal: AbortSignal) => {
    const wasDue = isDue;
    isDue = false;
    const withFiles = await reports.accountsWithFiles();
    if (withFiles.length === 0) return;
    const accounts = new Set((await listAccounts()).map(({ account }) => account));
    for (const account of withFiles) {
      if (signal.aborted) return;
      const isGone = !accounts.has(account);
      if (!wasDue && !isGone) continue;
      await (isGone ? reports.forget(account) : reports.purged(account)).catch((err) => {
        isDue = true;
        if (!signal.aborted) log.error({ err }, 'the report files could not be updated');
      });
    }
  };
  const stopPurging = repeat(async (signal) => {
    await wait(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    if (!signal.aborted)
      await purgeAll(signal).catch((err) => log.error({ err }, 'the report files could not be checked'));
    return 0;
  });
  return () => {
    stopListening();
    return stopPurging();
  };
};

interface ServedReports {
  readonly reports: FiledReports;
  /** The store for requests. Its erasures wait until the report files are purged. */
  readonly store: Store;
  stop(): Promise<void>;
}

export const openReports = async ({ store, config, log, niceness }: ReportsOptions): Promise<ServedReports> => {
  const { createReports } = await import('../reports/reports.ts');
  const { folder, remove } = await chooseFolder(config);
  const reports = createReports({
    feed: store,
    folder,
    memory: config.reportsMemory * megabyte,
    threads: Math.min(config.reportsThreads, availableParallelism()),
    limitMilliseconds: config.reportsSeconds * 1_000,
    ...(niceness !== undefined && { niceness }),
    onFault: (err) => log.error({ err }, 'the report engine failed'),
  });
  // Removes an erased event from the files within a minute.
  const stopPurging = startPurging(reports, { ...store, log });
  return {
    reports,
    store: withFilePurging(store, reports),
    async stop() {
      await Promise.all([reports.close(), stopPurging()]);
      await remove();
    },
  };
};
