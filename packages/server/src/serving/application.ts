/** Creates the application's HTTP server, without listening. */
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Demo } from '../demo/demo.ts';
import { createConnectionLimits } from '../http/access/connection-limits.ts';
import { startQuota } from '../http/access/quota.ts';
import { defaultRateLimits } from '../http/access/rate-limits.ts';
import { createTokenUse } from '../http/access/token-use.ts';
import { hasConsole } from '../http/console/pages.ts';
import { createSignInCodes } from '../http/console/sign-in-codes.ts';
import { hasDocs } from '../http/docs.ts';
import type { MetricsAccess } from '../http/metrics.ts';
import { createErrorResponder } from '../http/routes.ts';
import type { Traffic } from '../http/traffic.ts';
import type { Sender } from '../http/webhooks/send.ts';
import type { Reports } from '../reports/queries.ts';
import { consoleFolder, docsFolder, trackerFolder } from '../shared/built-folders.ts';
import type { Store } from '../store/store.ts';
import { createFirstAccount } from './first-account.ts';
import { computeMaxConnections } from './max-connections.ts';
import { consoleRootURL } from './root-url.ts';

/** A client has 10 s to send a request's headers and 30 s for the whole request, so that slow clients don't pile up. */
const serverOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // Common proxies close idle connections after 60 s. A longer timeout avoids closing a connection just as the proxy
  // reuses it.
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
  // Enough for an 8 KiB URL and a page's cookies.
  maxHeaderSize: 32 * 1024,
};

/** Headers beyond this number are ignored, because each takes time. A browser sends about 20; proxies add a few. */
const maxHeaders = 100;

interface ApplicationOptions {
  readonly store: Store;
  readonly config: Pick<
    Config,
    | 'host'
    | 'basePath'
    | 'trackerPath'
    | 'apiPrefix'
    | 'segmentPath'
    | 'docs'
    | 'trustProxy'
    | 'rateLimits'
    | 'accountBytes'
    | 'securityContact'
    | 'consoleOrigin'
    | 'geo'
    | 'geoFile'
    | 'geoHeader'
    | 'retentionDays'
    | 'backupDir'
    | 'backupEvery'
    | 'smtpURL'
  >;
  readonly log: Logger;
  readonly isStopping: () => boolean;
  readonly traffic: Traffic;
  readonly metrics: MetricsAccess | undefined;
  readonly reports: Reports | undefined;
  readonly sender: Sender;
  /** Create the first account if the database is empty, and issue a sign-in link for it. */
  readonly firstLink?: boolean | undefined;
  /** When the newest scheduled backup was made, in milliseconds since 1970; undefined if there is none. */
  readonly newestBackup?: () => number | undefined;
}

interface Application {
  readonly server: Server;
  readonly demo: Demo | undefined;
  /** Whether the documentation is served. */
  readonly docs: boolean;
  /**
   * Returns the path of a one-time sign-in link to the demo or first account; undefined without an account or console.
   */
  signInPath(): string | undefined;
  /** Stops background work. */
  stop(): Promise<void>;
  /** Flushes pending writes. Call it after the last request, before closing the store. */
  finish(): Promise<void>;
}

/** Loads the application's modules, with or without the demo page. Returns a function that creates the application. */
export const loadApplication = async (withDemo: boolean) => {
  const [{ createApp }, demoPage, sampleShop] = await Promise.all([
    import('../http/app.ts'),
    withDemo ? import('../demo/demo.ts') : undefined,
    withDemo ? import('../sample-shop/sample-shop.ts') : undefined,
  ]);
  return async ({
    store,
    config,
    log,
    isStopping,
    traffic,
    metrics,
    reports,
    sender,
    firstLink = false,
    newestBackup = () => undefined,
  }: ApplicationOptions): Promise<Application> => {
    const hasTracker = existsSync(`${trackerFolder}tracker.js`);
    if (!hasTracker) log.warn('tracker.js is not built, so it is not served: run npm run build');
    const withDocs = config.docs === 'on' && hasDocs(docsFolder);
    if (config.docs === 'on' && !withDocs)
      log.warn('the documentation is not built, so it is not served: run npm run build');
    const withConsole = hasConsole(consoleFolder);
    if (!withConsole) log.warn('the console is not built, so it is not served: run npm run build');
    const demo = await demoPage?.openDemo({ store, log, isStopping, paths: config });
    const firstAccount = firstLink && withConsole ? await createFirstAccount(store, Date.now()) : undefined;
    const { accountBytes } = config;
    const quota = accountBytes === undefined ? undefined : startQuota(store, { accountBytes, log });
    const withCountries = config.geo === 'country';
    const countryOf =
      withCountries && config.geoFile ? (await import('./countries.ts')).openCountries(config.geoFile) : undefined;
    const trustProxy = config.trustProxy ?? [];
    const maxConnections = computeMaxConnections();
    // One address may hold at most half of all connections.
    const shares = createConnectionLimits(trustProxy, Math.ceil(maxConnections / 2));
    const tokenUse = createTokenUse(store, Date.now);
    // With PORT=0, the port is known only once the server listens.
    const root = () => consoleRootURL({ ...config, port: (server.address() as AddressInfo).port });
    const signInCodes = createSignInCodes();
    const app = createApp({
      store,
      log,
      basePath: config.basePath,
      paths: config,
      segmentPath: config.segmentPath,
      trustProxy,
      vouch: shares.vouch,
      tokenUse,
      rateLimits: config.rateLimits ?? defaultRateLimits,
      quota,
      countryOf,
      countryHeader: withCountries ? config.geoHeader : undefined,
      traffic,
      metrics,
      reports,
      sender,
      mail: config.smtpURL !== undefined,
      securityContact: config.securityContact,
      serviceFacts: {
        retentionDays: config.retentionDays ?? 0,
        backupEveryMs: config.backupDir === undefined ? undefined : config.backupEvery,
        newestBackup,
      },
      signInCodes,
      sampleShop: sampleShop?.createSampleShop(store, log),
      consoleOrigin: config.consoleOrigin,
      files: {
        ...(hasTracker && { tracker: trackerFolder }),
        ...(withConsole && { console: consoleFolder }),
        ...(withDocs && { docs: { folder: docsFolder, root } }),
      },
      isStopping,
    });
    demo?.addTo(app, config.basePath);
    const errorHandler = createErrorResponder(log);
    const server = createServer(serverOptions, shares.limitPipelining(getRequestListener(app.fetch, { errorHandler })));
    server.maxConnections = maxConnections;
    server.maxHeadersCount = maxHeaders;
    shares.guard(server);
    const signInPath = () => {
      const account = demo?.account ?? firstAccount;
      return account !== undefined && withConsole ? `/console/#code=${signInCodes.issue(account)}` : undefined;
    };
    return { server, demo, docs: withDocs, signInPath, stop: async () => quota?.stop(), finish: tokenUse.finish };
  };
};
