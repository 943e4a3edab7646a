/** A running server: the store, the application on a socket, and what goes on beside them. */
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Demo } from './demo/demo.ts';
import { followConnections } from './drain.ts';
import { defaultRateLimits } from './http/rate-limits.ts';
import { createFailed } from './http/routes.ts';
import { createLog } from './log.ts';
import { registerOperatorToken } from './operator-token.ts';
import { startRetention } from './retention.ts';
import { rootURL } from './root-url.ts';
import { openStore } from './store/open.ts';
import type { Store } from './store/store.ts';

export interface ServeOptions {
  readonly log?: Logger;
  /** Serve the demo page, with an account of its own. */
  readonly demo?: boolean;
  /** It can't be known any more what is on the disk. The server answers nothing from here on; end the process. */
  readonly onFatal?: (error: Error) => void;
}

export interface Serving {
  /** The REST root, without a slash at its end. */
  readonly url: string;
  readonly demo: Demo | undefined;
  /**
   * Stops: no new connections, every request under way is answered, the store closed. Answers how many requests were cut
   * off because they took more than four seconds.
   */
  close(): Promise<number>;
}

/** The port can't be listened on. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen';
}

const drainMs = 4_000;

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

const trackerFolder = fileURLToPath(new URL('../../tracker/dist/', import.meta.url));

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there already; choose another PORT',
  EACCES: 'this user may not listen there; choose a PORT above 1023',
  EADDRNOTAVAIL: 'this machine has no such address; choose another HOST',
  ENOTFOUND: 'this host name is unknown; choose another HOST',
};

const listen = (server: Server, { host, port }: { host: string; port: number }): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const reason = reasons[String(cause.code)] ?? cause.message;
      reject(new CannotListen(`cannot listen on ${host}, port ${port}: ${reason}`, { cause }));
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve((server.address() as AddressInfo).port);
    });
  });

/**
 * Serves until `close` is called. Throws StoreUnusable when the database can't be served (another server has it, it is
 * another program's, …) and CannotListen when the address can't be had.
 */
export const serve = async (config: Config, options: ServeOptions = {}): Promise<Serving> => {
  const log = options.log ?? createLog(config.logLevel ?? 'info');
  let stopping = false;
  let fail = (error: Error) => {
    log.fatal({ err: error }, 'the store has failed: nothing more can be kept');
    options.onFatal?.(error);
  };
  const opening = openStore({
    databaseURL: config.databaseURL,
    role: 'server',
    onFatal: (error) => fail(error),
  });
  // Loaded while the store's threads start, which takes as long.
  const application = Promise.all([import('./app.ts'), options.demo ? import('./demo/demo.ts') : undefined]);
  const store = await opening;
  try {
    return await serveStore(store);
  } catch (error) {
    await store.close();
    throw error;
  }

  async function serveStore(store: Store): Promise<Serving> {
    if (config.operatorToken) await registerOperatorToken(store, config.operatorToken, { log, time: Date.now() });
    const hasTracker = existsSync(`${trackerFolder}tracker.js`);
    if (!hasTracker) log.warn('there is no tracker.js to serve: npm run build makes it');
    const [{ createApp }, demoPage] = await application;
    const app = createApp({
      store,
      log,
      basePath: config.basePath,
      trustProxy: config.trustProxy ?? [],
      rateLimits: config.rateLimits ?? defaultRateLimits,
      files: hasTracker ? { tracker: trackerFolder } : {},
      isStopping: () => stopping,
    });
    const demo = await demoPage?.openDemo({ store, log, isStopping: () => stopping });
    demo?.addTo(app, config.basePath);

    const errorHandler = createFailed({ log, isStopping: () => stopping });
    const server = createServer(serverOptions, getRequestListener(app.fetch, { errorHandler }));
    const drain = followConnections(server);
    const failAlone = fail;
    fail = (error) => {
      server.close();
      server.closeAllConnections();
      failAlone(error);
    };
    const port = await listen(server, config);
    const url = rootURL({ ...config, port });
    const stopRetention = config.retentionDays ? startRetention(store, { days: config.retentionDays, log }) : undefined;
    log.info({ address: url, database: config.databaseURL }, 'listening');

    let closed: Promise<number> | undefined;
    const close = async () => {
      const stopAnswering = drain(drainMs, () => {
        stopping = true;
      });
      const [cutOff] = await Promise.all([stopAnswering, stopRetention?.()]);
      await store.close();
      log.info({ cutOff }, 'stopped');
      return cutOff;
    };
    return { url, demo, close: () => (closed ??= close()) };
  }
};
