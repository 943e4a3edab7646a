/** Runs a server: the store, the application on a socket, and the background work. */
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Demo } from '../demo/demo.ts';
import { createTraffic } from '../http/traffic.ts';
import { createLog } from '../logging/log.ts';
import type { Reports } from '../reports/questions.ts';
import { missingFileOf, openBackups, openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { loadApplication } from './application.ts';
import { followConnections } from './drain.ts';
import { listen, tryListening } from './listening.ts';
import { registerOperatorToken } from './operator-token.ts';
import { openReports } from './reports.ts';
import { consoleRootURL, rootURL } from './root-url.ts';
import { type ScheduledBackups, startBackups } from './scheduled-backups.ts';
import { startTidying } from './tidying.ts';
import { requireWritable } from './writable-folder.ts';

export interface ServeOptions {
  readonly log?: Logger;
  /** Serve the demo page, with an account of its own. */
  readonly demo?: boolean;
  /** Create the first account of an empty database, and return a link that signs in to it. */
  readonly firstLink?: boolean;
  /** Answers reports in place of the engine. */
  readonly reports?: Reports;
  /** Called when the server can no longer know what the disk holds. It then responds to nothing: end the process. */
  readonly onFatal?: (error: Error) => void;
}

export interface Serving {
  /** The REST root, without a slash at its end. */
  readonly url: string;
  readonly demo: Demo | undefined;
  /** Whether it serves the documentation. */
  readonly docs: boolean;
  /** A link that signs in to the console once, within ten minutes: to the demo's account, or to the first one. */
  readonly consoleURL: string | undefined;
  /**
   * Stops: accepts no more connections, completes the requests under way and closes the store. Resolves with the number of requests
   * that were cut off because they took more than four seconds.
   */
  close(): Promise<number>;
}

/** The time after which requests under way are cut off. */
const drainMs = 4_000;

/**
 * Starts a server, which runs until `close` is called. Throws StoreUnusable if the database can't be served (another server has it,
 * it is another program's, …), CannotListen if the address can't be used, and BadConfiguration if a folder can't be written.
 */
export const serve = async (config: Config, options: ServeOptions = {}): Promise<Serving> => {
  const log = options.log ?? createLog(config.logLevel ?? 'info');
  let stopping = false;
  let fail = (error: Error) => {
    log.fatal({ err: error }, 'the store has failed: nothing more can be kept');
    options.onFatal?.(error);
  };
  const { host, metricsPort, backupDir, reportsDir } = config;
  if (backupDir !== undefined) requireWritable('BACKUP_DIR', backupDir);
  if (reportsDir !== undefined) requireWritable('REPORTS_DIR', reportsDir);
  const newFile = missingFileOf(config.databaseURL);
  const tryAll = async () => {
    await tryListening({ ...config, log });
    if (metricsPort !== undefined) await tryListening({ host, port: metricsPort, setting: 'METRICS_PORT', log });
  };
  const opening = tryAll().then(() =>
    openStore({
      databaseURL: config.databaseURL,
      role: 'server',
      updateBackup: {
        folder: backupDir,
        keep: backupDir === undefined ? undefined : config.backupKeep,
        onMade: (backup) => log.info(backup, 'a backup was made and verified before the update of the database'),
      },
      onFatal: (error) => fail(error),
      onFault: (err, message) => log.error({ err }, message),
    }),
  );
  // Loaded while the store's threads start, which takes equally long.
  const application = loadApplication(options.demo === true);
  // It may reject before it is awaited, or never be awaited.
  application.catch(() => {});
  const store = await opening;
  if (newFile !== undefined) {
    // A warning, because DATABASE_URL may name the wrong file. The demo normally creates one.
    log[options.demo ? 'info' : 'warn'](
      { file: newFile },
      'created a new, empty database: there was none at this path',
    );
  }
  try {
    return await serveStore(store);
  } catch (error) {
    await store.close();
    throw error;
  }

  async function serveStore(store: Store): Promise<Serving> {
    if (config.operatorToken) await registerOperatorToken(store, config.operatorToken, { log, time: Date.now() });
    const createApplication = await application;
    const traffic = createTraffic();
    const beginBackups = await openScheduledBackups();
    let backups: ScheduledBackups | undefined;
    const began = Date.now();
    // While there is no backup, one could have been made since the start.
    const newestBackup = () => backups && (backups.newestTime() ?? began);
    const isMeasured = config.metricsToken !== undefined || config.metricsPort !== undefined;
    const { serveMetrics } = isMeasured ? await import('./metrics.ts') : { serveMetrics: undefined };
    const served = options.reports ? undefined : await openReports({ store, config, log });
    const metrics = await serveMetrics?.({ store, traffic, newestBackup, reports: served?.reports, config, log });
    const { server, demo, docs, signInPath, finish, ...made } = await createApplication({
      store: served?.store ?? store,
      config,
      log,
      isStopping: () => stopping,
      traffic,
      metrics: metrics?.access,
      reports: options.reports ?? served?.reports,
      firstLink: options.firstLink,
      newestBackup: () => backups?.newestTime(),
    }).catch(async (error) => {
      await Promise.all([metrics?.stop(), served?.stop()]);
      throw error;
    });
    const stop = () => Promise.all([made.stop(), backups?.stop(), metrics?.stop()]);
    const drain = followConnections(server);
    const failAlone = fail;
    fail = (error) => {
      server.close();
      server.closeAllConnections();
      failAlone(error);
    };
    const port = await listen(server, { ...config, log }).catch(async (error) => {
      await Promise.all([stop(), served?.stop()]);
      throw error;
    });
    const url = rootURL({ ...config, port });
    const stopTidying = startTidying(store, { days: config.retentionDays || undefined, log });
    backups = beginBackups?.();
    log.info({ address: url, database: config.databaseURL }, 'listening');

    let closed: Promise<number> | undefined;
    const close = async () => {
      const stopAnswering = drain(drainMs, () => {
        stopping = true;
      });
      const [cutOff] = await Promise.all([stopAnswering, stopTidying(), stop()]);
      // After the last report was answered.
      await served?.stop();
      await finish();
      await store.close();
      log.info({ cutOff }, 'stopped');
      return cutOff;
    };
    const path = signInPath();
    const consoleURL = path && consoleRootURL({ ...config, port }) + path;
    return { url, demo, docs, consoleURL, close: () => (closed ??= close()) };
  }

  /** Opens the backups of the database before the server listens, because this may throw. Returns a function that begins to make them. */
  async function openScheduledBackups(): Promise<(() => ScheduledBackups) | undefined> {
    const { databaseURL, backupDir: folder, backupEvery: everyMs, backupKeep: keep } = config;
    if (folder === undefined) return undefined;
    const backups = await openBackups(databaseURL, folder);
    return () => startBackups({ databaseURL, folder, everyMs, keep, backups, log });
  }
};
