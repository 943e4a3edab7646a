/** Opens the reports of a server, keeps their files up to date, and lets receipts of erasures wait for them. */
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
  /** By how much the priority of reports is below that of the server. */
  readonly niceness?: number | undefined;
  readonly log: Logger;
}

/** How long an erasure's receipt waits for the files, before it says that the erasure is not complete. */
const receiptMs = 1_000;

const megabyte = 1024 * 1024;

/** A temporary folder is named after its process: the process ID, and what no other process of that ID has. */
const temporary = /^firsthand-reports-(\d{1,10})-([\w-]{21})-[\w-]{21}$/;
/** In a container the server has the same process ID after each restart. */
const thisProcess = nanoid();

const isRunning = (pid: number, name: string | undefined): boolean => {
  if (pid === process.pid) return name === thisProcess;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
};

const removeAll = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

/** Removes the temporary folders of servers that were killed: what they hold may have been erased since. */
const removeLeftOver = async (): Promise<void> => {
  for (const folder of await readdir(tmpdir())) {
    const [, pid, name] = temporary.exec(folder) ?? [];
    if (pid !== undefined && !isRunning(Number(pid), name)) await removeAll(join(tmpdir(), folder)).catch(() => {});
  }
};

/**
 * Returns the folder of the files: beside a SQLite file unless REPORTS_DIR names another; for other databases a temporary one, which
 * exists once there is a report, and which `remove` removes.
 */
const chooseFolder = async ({ databaseURL, reportsDir }: ReportsOptions['config']) => {
  if (reportsDir !== undefined) return { folder: resolve(reportsDir), remove: async () => {} };
  const file = /^sqlite:(?!:memory:$)(.+)$/.exec(databaseURL)?.[1];
  if (file !== undefined) return { folder: resolve(`${file.replace(/\.db$/, '')}.reports`), remove: async () => {} };
  await removeLeftOver();
  const folder = join(tmpdir(), `firsthand-reports-${process.pid}-${thisProcess}-${nanoid()}`);
  return { folder, remove: () => removeAll(folder) };
};

/**
 * Wraps the store, so that a receipt says `complete` only when the files of reports hold nothing of the erased contact either. A
 * repeated request asks again.
 */
export const awaitingFiles = (store: Store, reports: Pick<FiledReports, 'purged'>): Store => ({
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
 * Removes what is erased from all files: `pauseMs` after something was stored, and again after a failure, which is logged. Also deletes
 * the files of deleted accounts, which a command may have deleted: it looks for these after each pause. Returns a function that ends this.
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
  const round = async (signal: AbortSignal) => {
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
        if (!signal.aborted) log.error({ err }, 'the files of reports were not brought up to date');
      });
    }
  };
  const stopRounds = repeat(async (signal) => {
    await wait(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    if (!signal.aborted)
      await round(signal).catch((err) => log.error({ err }, 'the files of reports were not looked through'));
    return 0;
  });
  return () => {
    stopListening();
    return stopRounds();
  };
};

interface ServedReports {
  readonly reports: FiledReports;
  /** The store that requests use. */
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
    onFault: (err) => log.error({ err }, 'reports failed'),
  });
  // An erased event leaves the files within a minute.
  const stopPurging = startPurging(reports, { ...store, log });
  return {
    reports,
    store: awaitingFiles(store, reports),
    async stop() {
      await Promise.all([reports.close(), stopPurging()]);
      await remove();
    },
  };
};
