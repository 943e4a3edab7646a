/** A worker: one of several processes that answer requests. It ends when the first process does. */
import { Socket } from 'node:net';
import type { Logger } from 'pino';
import { loadApplication } from '../application.ts';
import { followConnections } from '../drain.ts';
import { mostHeldBytes } from '../http/admission.ts';
import { createLog } from '../log.ts';
import { openStoreAmong } from '../store/open.ts';
import { createAsking } from './asking.ts';
import { type Channel, openChannel } from './channel.ts';
import { createCommits } from './commits.ts';
import { takeConnections } from './connections.ts';
import type { Opening, Stop, ToFirst, ToWorker } from './messages.ts';

/** Where worker-process.ts puts the pipe. */
const pipeDescriptor = 4;

/** EX_SOFTWARE of sysexits.h. */
const failedExitCode = 70;

/** A worker has a part of what the bodies of requests may take in all processes together, but room for two of the largest. */
const leastHeldBytes = 2 * 1024 * 1024;

type Heard = Exclude<ToWorker, { open: Opening }>;

/** Answers what it is handed until it is told to stop. */
export const runWorker = (): void => {
  let log = createLog('error');
  const fail = (error: Error) => {
    log.fatal({ err: error }, 'the worker has failed');
    process.exit(failedExitCode);
  };
  process.on('uncaughtException', fail);
  // Sent to all processes of a terminal, or of a service: it is the first one's to say what happens.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {});
  // Without the first process nothing can be kept.
  const end = () => process.exit(1);
  process.on('disconnect', end);

  let hear = (_: Heard): void => {};
  const socket = new Socket({ fd: pipeDescriptor, readable: true, writable: true });
  const channel: Channel<ToFirst> = openChannel<ToFirst, ToWorker>(socket, {
    onMessage(message) {
      if (!('open' in message)) return hear(message);
      log = createLog(message.open.logLevel).child({ worker: message.open.worker });
      serveAs(message.open, log).then(
        () => channel.send({ ready: true }),
        (error: Error) => channel.send({ failed: error.message }),
      );
    },
    onParcel: (frame) => commits.answered(frame),
    onEnd: end,
  });
  const commits = createCommits(channel.sendParcel);

  // While the first process opens the database.
  void import('../app.ts');

  const serveAs = async ({ worker, config, demo }: Opening, log: Logger): Promise<void> => {
    const createApplication = await loadApplication(demo);
    const { store, tellCommit } = await openStoreAmong(config.databaseURL, {
      processes: config.workers,
      commit: commits.commit,
      onHearing: (hears) => channel.send({ hears }),
      onFatal: fail,
    });
    const counting = createAsking(config.trustProxy ?? [], (asks) => channel.send({ asks }));
    const accessListeners = new Set<() => void>();
    hear = (message) => {
      if ('counts' in message) counting.answered(message.counts);
      else if ('committed' in message) tellCommit();
      else if ('ping' in message) channel.send({ pong: true });
      else {
        for (const forget of accessListeners) forget();
        channel.send({ forgotten: true });
      }
    };
    let stopping = false;
    const { server, stop: stopApplication } = await createApplication({
      store,
      config,
      log,
      // Each measures, and the first of them tells.
      quotaLog: worker === 1 ? log : createLog('silent'),
      isStopping: () => stopping,
      among: {
        counting,
        mostHeldBytes: Math.max(leastHeldBytes, mostHeldBytes / config.workers),
        onAccessChange(listener) {
          accessListeners.add(listener);
          return () => void accessListeners.delete(listener);
        },
      },
    });
    const drain = followConnections(server);
    const stop = async ({ stopWithinMs }: Stop) => {
      const cutOff = await drain(stopWithinMs, () => {
        stopping = true;
      });
      await stopApplication();
      await store.close();
      channel.send({ stopped: cutOff });
      await channel.end();
      process.exit(0);
    };
    takeConnections(server, { onStop: (message) => void stop(message), tell: channel.send });
  };
};
