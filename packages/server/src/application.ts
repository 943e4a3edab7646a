/** The application on a server of Node's, which does not listen yet. */
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Logger } from 'pino';
import type { Among } from './app.ts';
import type { Config } from './config.ts';
import type { Demo } from './demo/demo.ts';
import { createConnectionShares } from './http/connection-shares.ts';
import { defaultRateLimits } from './http/rate-limits.ts';
import { createFailed } from './http/routes.ts';
import { mostConnections } from './most-connections.ts';
import { startQuota } from './quota.ts';
import type { Store } from './store/store.ts';
import { trackerFolder } from './tracker-folder.ts';

/** A client has this long to send a request's headers, and all of it. Slow ones must not hold connections for ever. */
const serverOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // Longer than the 60 s after which common proxies give up an idle connection, so that it isn't us who close it just
  // when they send the next request.
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
  // A URL of 8 KiB, and a page's cookies with it.
  maxHeaderSize: 32 * 1024,
};

/** Each costs time. A browser sends about 20, and proxies add a few; those beyond are not read. */
const mostHeaders = 100;

interface ApplicationOptions {
  readonly store: Store;
  readonly config: Pick<Config, 'basePath' | 'trustProxy' | 'rateLimits' | 'accountBytes' | 'workers'>;
  readonly log: Logger;
  readonly isStopping: () => boolean;
  readonly among?: Among;
  /** Logs the accounts that are near their quota. Only one of several processes is given one. */
  readonly quotaLog?: Logger;
}

export interface Application {
  readonly server: Server;
  readonly demo: Demo | undefined;
  /** Ends what goes on beside the requests. */
  stop(): Promise<void>;
}

/** Loads the application, with a demo page or without; answers what makes it. */
export const loadApplication = async (withDemo: boolean) => {
  const [{ createApp }, demoPage] = await Promise.all([
    import('./app.ts'),
    withDemo ? import('./demo/demo.ts') : undefined,
  ]);
  return async ({
    store,
    config,
    log,
    isStopping,
    among,
    quotaLog = log,
  }: ApplicationOptions): Promise<Application> => {
    const hasTracker = existsSync(`${trackerFolder}tracker.js`);
    if (!hasTracker) log.warn('there is no tracker.js to serve: npm run build makes it');
    const { accountBytes } = config;
    const quota = accountBytes === undefined ? undefined : startQuota(store, { accountBytes, log: quotaLog });
    const trustProxy = config.trustProxy ?? [];
    const most = mostConnections();
    // Half of what all processes have: the others keep a place.
    const shares = createConnectionShares({ trustProxy, mostOfAnAddress: Math.ceil(most / 2 / config.workers) });
    const app = createApp({
      store,
      log,
      basePath: config.basePath,
      trustProxy,
      vouch: shares.vouch,
      rateLimits: config.rateLimits ?? defaultRateLimits,
      quota,
      among,
      files: hasTracker ? { tracker: trackerFolder } : {},
      isStopping,
    });
    const demo = await demoPage?.openDemo({ store, log, isStopping });
    demo?.addTo(app, config.basePath);
    const errorHandler = createFailed({ log, isStopping });
    const server = createServer(serverOptions, shares.withoutQueues(getRequestListener(app.fetch, { errorHandler })));
    server.maxConnections = most;
    server.maxHeadersCount = mostHeaders;
    shares.guard(server);
    return { server, demo, stop: async () => quota?.stop() };
  };
};
