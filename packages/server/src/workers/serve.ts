/** A running server of several processes: this one, which accepts connections and writes, and the workers, which answer. */
import { createServer } from 'node:net';
import type { Config } from '../config.ts';
import { createDoor } from '../drain.ts';
import { createCountingForAll } from '../http/counting.ts';
import { defaultRateLimits } from '../http/rate-limits.ts';
import { listen, tryListening } from '../listening.ts';
import { createLog } from '../log.ts';
import { mostConnections } from '../most-connections.ts';
import { registerOperatorToken } from '../operator-token.ts';
import { startRetention } from '../retention.ts';
import { rootURL } from '../root-url.ts';
import { drainMs, type ServeOptions, type Serving } from '../serve.ts';
import { openFirstStore } from '../store/open.ts';
import type { FirstStore } from '../store/several.ts';
import { createWorkerCounts } from './counts.ts';
import { createCrew } from './crew.ts';
import { startWorker } from './worker-process.ts';

interface ServeWithWorkersOptions extends ServeOptions {
  /** The file that Node runs in this process, which runs a worker when it is given the argument `worker`. */
  readonly command: string;
}

/** As `serve`, for WORKERS above 1. */
export const serveWithWorkers = async (config: Config, options: ServeWithWorkersOptions): Promise<Serving> => {
  const log = options.log ?? createLog(config.logLevel ?? 'info');
  const fail = (error: Error) => {
    log.fatal({ err: error }, 'the server has failed: nothing more can be kept');
    // Nobody is answered from here on.
    crew.kill();
    options.onFatal?.(error);
  };
  const opening = tryListening({ ...config, log }).then(() =>
    openFirstStore(config.databaseURL, (error) => fail(error)),
  );
  const { operatorToken, ...workerConfig } = config;
  const demo = opening.then(async ({ store }) => {
    if (operatorToken) await registerOperatorToken(store, operatorToken, { log, time: Date.now() });
    if (!options.demo) return undefined;
    const { openDemo } = await import('../demo/demo.ts');
    return openDemo({ store, log, isStopping: () => false });
  });
  const counting = createCountingForAll(config.rateLimits ?? defaultRateLimits);
  const crew = createCrew({
    workers: config.workers,
    start: (worker) =>
      startWorker({
        command: options.command,
        // What the workers find in the database is there by then.
        opening: demo.then(() => ({
          worker,
          config: workerConfig,
          logLevel: log.level,
          demo: options.demo === true,
        })),
        commit: async (parcel, bytes) => (await opening).commit(parcel, bytes),
        forgetAccess: () => crew.forgetAccess(),
        counts: createWorkerCounts(counting),
      }),
    log,
    onFatal: (error) => fail(error),
  });

  try {
    return await serveFrom(await opening);
  } catch (error) {
    crew.kill();
    await opening.then(
      ({ store }) => store.close(),
      () => {},
    );
    throw error;
  }

  async function serveFrom({ store }: FirstStore): Promise<Serving> {
    const demoPage = await demo;
    await crew.ready;
    store.onCommit(crew.tellCommit);
    // Connections are handed over as they are: nothing is read, and what node:http sets is set.
    const server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, crew.hand);
    server.maxConnections = mostConnections();
    const closeDoor = createDoor(server);
    const port = await listen(server, { ...config, log });
    const url = rootURL({ ...config, port });
    const stopRetention = config.retentionDays ? startRetention(store, { days: config.retentionDays, log }) : undefined;
    log.info({ address: url, database: config.databaseURL, workers: config.workers }, 'listening');

    let closed: Promise<number> | undefined;
    const close = async () => {
      await closeDoor();
      const [cutOff] = await Promise.all([crew.stop(drainMs), stopRetention?.()]);
      await store.close();
      log.info({ cutOff }, 'stopped');
      return cutOff;
    };
    return { url, demo: demoPage, close: () => (closed ??= close()) };
  }
};
