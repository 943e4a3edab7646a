/** One worker, as the first process sees it. */
import { fork } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Commit } from '../store/several.ts';
import { openChannel } from './channel.ts';
import { answerCommit } from './commits.ts';
import type { WorkerCounts } from './counts.ts';
import { NotAFrame } from './frames.ts';
import type { Opening, Stop, ToFirst, ToWorker } from './messages.ts';

export interface WorkerProcess {
  readonly pid: number | undefined;
  /** Connections that it has, or is being handed. */
  readonly load: number;
  /** Looks that it has not answered, one after the other. */
  readonly missed: number;
  /** Resolves when it can be handed connections; rejects with the reason when it ends before. */
  readonly ready: Promise<void>;
  /** Resolves with how, when it has ended. */
  readonly ended: Promise<string>;
  /** A connection that was accepted, and of which nothing was read. */
  hand(connection: Socket): void;
  /** Connections that it was to be handed and has not been, when it has ended. */
  takeBack(): Socket[];
  /** Somebody's commit: for those that listen. */
  tellCommit(): void;
  /** Resolves when it has forgotten what it knew of tokens, or has ended. */
  forgetAccess(): Promise<void>;
  /** Asks whether it still answers. */
  look(): void;
  /** Resolves when it has ended, with how many requests it has cut off. */
  stop(withinMs: number): Promise<number>;
  kill(): void;
}

interface Surroundings {
  /** What `firsthand` is started with in this process. */
  readonly command: string;
  /** It loads what it runs before there is anything to open. */
  readonly opening: Promise<Opening>;
  readonly commit: Commit;
  /** Of all workers. */
  readonly forgetAccess: () => Promise<void>;
  readonly counts: WorkerCounts;
}

/** Beyond `withinMs`, until it is killed that has not stopped. */
const patienceMs = 300;

export const startWorker = ({ command, opening, commit, forgetAccess, counts }: Surroundings): WorkerProcess => {
  // It has the whole configuration from here, and no use for a secret.
  const { OPERATOR_TOKEN: _, ...env } = process.env;
  const child = fork(command, ['worker'], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'] });
  /** Connections that it is still to be handed: one after the other, since what Node queues is lost when the process ends. */
  const outgoing: Socket[] = [];
  /** The one that it is being handed. Open here until it has it: Node may leave open what a process that ends was sent. */
  let underWay: Socket | undefined;
  let handed = 0;
  let whenHanded = () => {};
  let connections = { taken: 0, open: 0 };
  let hears = false;
  const forgetting: (() => void)[] = [];
  let missed = 0;
  let failure: string | undefined;
  let cutOff: number | undefined;
  let becomeReady = () => {};
  let failToStart = (_: Error) => {};
  const ready = new Promise<void>((resolve, reject) => {
    becomeReady = resolve;
    failToStart = reject;
  });
  // It may fail before anybody waits for it.
  ready.catch(() => {});

  const handNext = () => {
    if (handed > connections.taken) return;
    underWay?.destroy();
    underWay = undefined;
    const connection = outgoing.shift();
    if (connection === undefined) {
      whenHanded();
      whenHanded = () => {};
      return;
    }
    handed += 1;
    underWay = connection;
    child.send('connection', connection, { keepOpen: true }, (error) => {
      if (error) connection.destroy();
    });
  };

  const channel = openChannel<ToWorker, ToFirst>(child.stdio[4] as Socket, {
    onMessage(message) {
      if ('asks' in message) channel.send({ counts: counts.answer(message.asks) });
      else if ('taken' in message) {
        connections = message;
        handNext();
      } else if ('pong' in message) missed = 0;
      else if ('forgotten' in message) forgetting.shift()?.();
      else if ('hears' in message) {
        hears = message.hears;
        // What was committed before it was heard that it listens.
        if (hears) channel.send({ committed: true });
      } else if ('ready' in message) becomeReady();
      else if ('stopped' in message) cutOff = message.stopped;
      else {
        failure = message.failed;
        child.kill('SIGKILL');
      }
    },
    onParcel: (frame) => void answerCommit(frame, { commit, forgetAccess, send: channel.sendParcel }),
    // It has ended, or is to: it has let go of the pipe, or sent what nobody can read.
    onEnd: (error) => {
      if (error instanceof NotAFrame) failure = error.message;
      if (cutOff === undefined) child.kill('SIGKILL');
    },
  });
  const ended = new Promise<string>((resolve) => {
    const end = (how: string) => {
      // It may have read of it: nobody else can answer that.
      underWay?.destroy();
      counts.end();
      for (const resolve of forgetting.splice(0)) resolve();
      failToStart(new Error(how));
      resolve(how);
    };
    child.once('error', (error) => end(error.message));
    // All that it has said was read.
    child.once('close', (code, signal) =>
      end(failure ?? (signal ? `it was killed by ${signal}` : `it ended with ${code}`)),
    );
  });
  opening.then(
    (open) => channel.send({ open }),
    () => child.kill('SIGKILL'),
  );

  return {
    pid: child.pid,
    get load() {
      return outgoing.length + handed - connections.taken + connections.open;
    },
    get missed() {
      return missed;
    },
    ready,
    ended,
    hand(connection) {
      outgoing.push(connection);
      handNext();
    },
    takeBack: () => outgoing.splice(0),
    tellCommit() {
      if (hears) channel.send({ committed: true });
    },
    forgetAccess() {
      channel.send({ forget: true });
      return new Promise((resolve) => forgetting.push(resolve));
    },
    look() {
      missed += 1;
      channel.send({ ping: true });
    },
    async stop(withinMs) {
      const under = connections;
      const tooLong = setTimeout(() => child.kill('SIGKILL'), withinMs + patienceMs);
      whenHanded = () => child.send({ stopWithinMs: withinMs } satisfies Stop, () => {});
      handNext();
      await ended;
      clearTimeout(tooLong);
      // One that did not stop, or died meanwhile, has cut off what it had.
      return cutOff ?? Math.max(1, under.open);
    },
    kill: () => void child.kill('SIGKILL'),
  };
};
