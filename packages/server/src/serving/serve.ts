/** Runs a server: the store, the HTTP application and the background work. */
import type { Server } from 'node:http';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Demo } from '../demo/demo.ts';
import { createTraffic } from '../http/traffic.ts';
import { startDeliveries } from '../http/webhooks/delivery.ts';
import { startNotices } from '../http/webhooks/notices.ts';
import { createSender } from '../http/webhooks/send.ts';
import { createLog } from '../logging/log.ts';
import type { Reports } from '../reports/queries.ts';
import { findMissingFile, openBackups, openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { loadApplication } from './application.ts';
import { trackConnections } from './drain.ts';
import { checkListen, listen } from './listen.ts';
import { startMails } from './mails.ts';
import { registerOperatorToken } from './operator-token.ts';
import { openReports } from './reports.ts';
import { startRetentionJob } from './retention-job.ts';
import { consoleRootURL, rootURL } from './root-url.ts';
import { type ScheduledBackups, startBackups } from './scheduled-backups.ts';
import { requireWritable } from './writable-folder.ts';

export interface ServeOptions {
  readonly log?: Logger;
  /** Serve the demo page, with a separate account. */
  readonly demo?: boolean;
  /** Create the first account if the database is empty, and return a sign-in link for it. */
  readonly firstLink?: boolean;
  /** Replaces the report engine. */
  readonly reports?: Reports;
  /**
   * Called after a failed write that leaves the disk's state unknown. The server stops responding; exit the process.
   */
  readonly onFatal?: (error: Error) => void;
}

export interface Serving {
  /** The REST root, without a trailing slash. */
  readonly url: string;
  readonly demo: Demo | undefined;
  /** Whether the documentation is served. */
  readonly docs: boolean;
  /** A one-time console sign-in link to the demo account or the first account, valid for ten minutes. */
  readonly consoleURL: string | undefined;
  /**
   * Stops accepting connections, completes the requests in progress and closes the store. Resolves with the number of
   * requests that were cut off after four seconds.
   */
  close(): Promise<number>;
}

/** How long a shutdown waits for requests in progress before it cuts them off. */
const drainMs = 4_000;

const checkPorts = async ({ host, port, metricsPort }: Config, log: Logger): Promise<void> => {
  await checkListen({ host, port, log });
  if (metricsPort !== undefined) await checkListen({ host, port: metricsPort, setting: 'METRICS_PORT', log });
};

/** Handles a failed write that leaves the disk's state unknown. */
const createFailure = (log: Logger, onFatal: ServeOptions['onFatal']) => {
  let server: Server | undefined;
  return {
    fail(error: Error): void {
      server?.close();
      server?.closeAllConnections();
      log.fatal({ err: error }, 'the store failed: no more events can be stored');
      onFatal?.(error);
    },
    /** Sets the server that a failure stops. */
    stopFirst(listening: Server): void {
      server = listening;
    },
  };
};

/**
 * Opens the backup folder before the server listens, because this can throw. Returns a function that starts the
 * schedule.
 */
const openScheduledBackups = async (config: Config, log: Logger): Promise<(() => ScheduledBackups) | undefined> => {
  const { databaseURL, backupDir: folder, backupEvery: everyMs, backupKeep: keep } = config;
  if (folder === undefined) return undefined;
  const backups = await openBackups(databaseURL, folder);
  return () => startBackups({ databaseURL, folder, everyMs, keep, backups, log });
};

interface Parts {
  readonly store: Store;
  readonly config: Config;
  readonly options: ServeOptions;
  readonly log: Logger;
  readonly application: ReturnType<typeof loadApplication>;
  readonly failure: ReturnType<typeof createFailure>;
}

const serveStore = async ({ store, config, options, log, application, failure }: Parts): Promise<Serving> => {
  let stopping = false;
  if (config.operatorToken) await registerOperatorToken(store, config.operatorToken, { log, time: Date.now() });
  const createApplication = await application;
  const traffic = createTraffic();
  const sender = createSender({ allow: config.webhookAllow });
  const startBackupSchedule = await openScheduledBackups(config, log);
  let backups: ScheduledBackups | undefined;
  const startTime = Date.now();
  // Until there is a backup, the reported age counts from startup.
  const newestBackup = () => backups && (backups.newestTime() ?? startTime);
  const hasMetrics = config.metricsToken !== undefined || config.metricsPort !== undefined;
  const { serveMetrics } = hasMetrics ? await import('./metrics.ts') : { serveMetrics: undefined };
  const openedReports = options.reports ? undefined : await openReports({ store, config, log });
  const metrics = await serveMetrics?.({
    store,
    traffic,
    newestBackup,
    reports: openedReports?.reports,
    config,
    log,
  });
  const { server, demo, docs, signInPath, finish, ...background } = await createApplication({
    store: openedReports?.store ?? store,
    config,
    log,
    isStopping: () => stopping,
    traffic,
    metrics: metrics?.access,
    reports: options.reports ?? openedReports?.reports,
    sender,
    firstLink: options.firstLink,
    newestBackup: () => backups?.newestTime(),
  }).catch(async (error) => {
    await Promise.all([metrics?.stop(), openedReports?.stop()]);
    throw error;
  });
  const stop = () => Promise.all([background.stop(), backups?.stop(), metrics?.stop()]);
  const drain = trackConnections(server);
  failure.stopFirst(server);
  const port = await listen(server, { ...config, log }).catch(async (error) => {
    await Promise.all([stop(), openedReports?.stop()]);
    throw error;
  });
  const url = rootURL({ ...config, port });
  const stopRetentionJob = startRetentionJob(store, { days: config.retentionDays || undefined, log });
  const { startAudiences } = await import('../http/webhooks/audiences.ts');
  const reports = options.reports ?? openedReports?.reports;
  const webhookJobs = [
    startDeliveries({ store, send: sender.send, log }),
    startAudiences({ store, reports, log }),
    startNotices({ store, log }),
  ];
  const stopWebhooks = () => Promise.all(webhookJobs.map((stopJob) => stopJob()));
  const mailing = {
    ...{ store, config, log, root: consoleRootURL({ ...config, port }) },
    reports: { store: openedReports?.store ?? store, reports },
  };
  const stopMails = await startMails(mailing);
  backups = startBackupSchedule?.();
  log.info({ address: url, database: config.databaseURL }, 'listening');

  let closed: Promise<number> | undefined;
  const close = async () => {
    const drained = drain(drainMs, () => {
      stopping = true;
    });
    const [cutOff] = await Promise.all([drained, stopRetentionJob(), stopWebhooks(), stopMails(), stop()]);
    sender.close();
    // Stopped only after the last request, so that the last report is complete.
    await openedReports?.stop();
    await finish();
    await store.close();
    log.info({ cutOff }, 'stopped');
    return cutOff;
  };
  const path = signInPath();
  const consoleURL = path && consoleRootURL({ ...config, port }) + path;
  return { url, demo, docs, consoleURL, close: () => (closed ??= close()) };
};

/**
 * Starts a server, which runs until `close` is called. Throws StoreUnusable if the database can't be used, for example
 * because another server uses it; CannotListen if it can't listen on the address; BadConfiguration if it can't write to
 * a folder.
 */
export const serve = async (config: Config, options: ServeOptions = {}): Promise<Serving> => {
  const log = options.log ?? createLog(config.logLevel ?? 'info');
  const failure = createFailure(log, options.onFatal);
  const { databaseURL, backupDir, reportsDir } = config;
  if (backupDir !== undefined) requireWritable('BACKUP_DIR', backupDir);
  if (reportsDir !== undefined) requireWritable('REPORTS_DIR', reportsDir);
  const newFile = findMissingFile(databaseURL);
  const opening = checkPorts(config, log).then(() =>
    openStore({
      databaseURL,
      role: 'server',
      updateBackup: {
        folder: backupDir,
        keep: backupDir === undefined ? undefined : config.backupKeep,
        onMade: (backup) => log.info(backup, 'a backup was made and verified before the database update'),
      },
      onFatal: failure.fail,
      onFault: (err, message) => log.error({ err }, message),
    }),
  );
  // Loads while the store's threads start, which takes about as long.
  const application = loadApplication(options.demo === true);
  // The promise might reject before it is awaited, or never be awaited.
  application.catch(() => {});
  const store = await opening;
  if (newFile !== undefined) {
    // A warning, because DATABASE_URL might have a mistake; the demo normally creates a file.
    log[options.demo ? 'info' : 'warn'](
      { file: newFile },
      'created a new, empty database: there was none at this path',
    );
  }
  try {
    return await serveStore({ store, config, options, log, application, failure });
  } catch (error) {
    await store.close();
    throw error;
  }
};
