/** The servers that a benchmark compares, each in a process of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** `durable`: ours. `nothing kept`: the same app over a store that only says that it kept. `bare`: node:http and JSON.parse. */
export type ServerKind = 'durable' | 'nothing kept' | 'bare';

export interface Running {
  readonly port: number;
  readonly pid: number;
  /** From here on its event loop is watched. */
  watchEventLoop(): void;
  /** By how much its event loop was late since then, in milliseconds: the 99th percentile. */
  eventLoopDelay(): Promise<number>;
  stop(): Promise<void>;
}

export const startServer = async (
  kind: ServerKind,
  path: string,
  options: readonly string[] = [],
): Promise<Running> => {
  const child: ChildProcess = fork(new URL('./server.ts', import.meta.url), [kind, path], {
    execArgv: [...options, '--import', 'tsx'],
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the ${kind} server ended before it listened`);
  });
  const [port] = (await Promise.race([once(child, 'message'), ended])) as [number];
  ended.catch(() => {});
  return {
    port,
    pid: child.pid as number,
    watchEventLoop() {
      child.send('watch');
    },
    async eventLoopDelay() {
      child.send('tell');
      const [milliseconds] = (await once(child, 'message')) as [number];
      return milliseconds;
    },
    async stop() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
};
