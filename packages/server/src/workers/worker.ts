/** A worker: one of several processes that answer requests. It ends when the first process does. */
import { Socket } from 'node:net';
import type { Logger } from 'pino';
import { loadApplication } from '../application.ts';
import { followConnections } from '../drain.ts';
import { mostHeldBytes } from '../http/admission.ts';
import { createLog } from '../log.ts';
import { openStoreAmong } from '../store/open.ts';
import { createAsking } from './asking.ts';
import { type Channel, openChannel, type ParcelFrame } from './channel.ts';
import { createCommits } from './commits.ts';
import { takeConnections } from './connections.ts';
import type { Opening, Stop, ToFirst, ToWorker } from './messages.ts';

/** Where worker-process.ts puts the pipe. */
const pipeDescriptor = 4;

/** EX_SOFTWARE of sysexits.h. */
const failedExitCode = 70;

/** A worker has a part of what the bodies of requests may take in all processes together, but room for two of the largest. */
const leastHeldBytes = 2 * 1024 * 1024;

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
  // Nobody writes any more, and whoever comes next wants the port.
  const end = () => process.exit(1);
  process.on('disconnect', end);

  const socket = new Socket({ fd: pipeDescriptor, readable: true, writable: true });
  const commits = createCommits((frame) => channel.sendParcel(frame));
  let hear: (message: Exclude<ToWorker, { open: Opening }>) => void = () => {};
  const channel: Channel<ToFirst> = openChannel<ToFirst, ToWorker>(socket, {
    onMessage(message) {
      if (!('open' in message)) return hear(message);
      log = createLog(message.open.logLevel).child({ worker: message.open.worker });
      serveAs(message.open, log).then(
        (listener) => {
          hear = listener;
          channel.send({ ready: true });
        },
        (error: Error) => channel.send({ failed: error.message }),
      );
    },
    onParcel: (frame: ParcelFrame) => commits.answered(frame),
    onEnd: end,
  });

  // While the first process opens the database.
  void import('../app.ts');

  const serveAs = async ({ config, demo }: Opening, log: Logger) => {
    const createApplication = await loadApplication(demo);
    const { store, tellCommit } = await openStoreAmong(config.databaseURL, {
      processes: config.workers,
      commit: commits.commit,
      onHearing: (hears) => channel.send({ hears }),
      onFatal: fail,
    });
    const counting = createAsking(config.trustProxy ?? [], (asks) => channel.send({ asks }));
    let stopping = false;
    // Its account may have to be looked up, which takes an answer.
    const accessListeners = new Set<() => void>();
    const onAccessChange = (listener: () => void) => {
      accessListeners.add(listener);
      return () => void accessListeners.delete(listener);
    };
    hear = listenTo({ tellCommit, counting, accessListeners });
    const { server } = await createApplication({
      store,
      config,
      log,
      isStopping: () => stopping,
      among: { counting, onAccessChange, mostHeldBytes: Math.max(leastHeldBytes, mostHeldBytes / config.workers) },
    });
    const drain = followConnections(server);
    const stop = async ({ stopWithinMs }: Stop) => {
      const cutOff = await drain(stopWithinMs, () => {
        stopping = true;
      });
      await store.close();
      channel.send({ stopped: cutOff });
      await channel.end();
      process.exit(0);
    };
    takeConnections(server, {
      onStop: (message) => void stop(message),
      tell: (connections) => channel.send(connections),
    });
    return hear;
  };

  const listenTo =
    (parts: {
      tellCommit: () => void;
      counting: ReturnType<typeof createAsking>;
      accessListeners: ReadonlySet<() => void>;
    }) =>
    (message: Exclude<ToWorker, { open: Opening }>) => {
      if ('counts' in message) parts.counting.answered(message.counts);
      else if ('committed' in message) parts.tellCommit();
      else if ('forget' in message) {
        for (const forget of parts.accessListeners) forget();
        channel.send({ forgotten: true });
      } else channel.send({ pong: true });
    };
};
