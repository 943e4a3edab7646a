/** Starts the servers that a benchmark compares, each in a separate process. */
import { once } from 'node:events';
import { forkBuilt, forkSources } from './fork.ts';

/**
 * `durable`: our server. `reporting`: our server with reports, in a folder next to the database. `no storage`: the same
 * app with a store that discards events. `bare`: node:http and JSON.parse.
 */
export type ServerKind = 'durable' | 'reporting' | 'no storage' | 'bare';

/**
 * Commands to a server. `event loop delay` returns the 99th percentile, in milliseconds, since the command `watch the
 * event loop`; `profiled` returns a profile of each thread since the command `profile`.
 */
export type ServerCommand = 'watch the event loop' | 'event loop delay' | 'profile' | 'profiled';

export interface RunningServer {
  readonly port: number;
  readonly pid: number;
  send(command: ServerCommand): Promise<unknown>;
  stop(): Promise<void>;
}

/** The report process's settings. */
export interface Priority {
  readonly niceness: number;
  readonly threads: number;
}

/** Starts a server from the build or from the sources. */
export const startServer = async (
  kind: ServerKind,
  path: string,
  from: 'build' | 'sources' = 'build',
  priority?: Priority,
): Promise<RunningServer> => {
  const args = [kind, path, ...(priority ? [String(priority.niceness), String(priority.threads)] : [])];
  const child = from === 'build' ? await forkBuilt('server', ...args) : forkSources('server', ...args);
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the ${kind} server exited before it listened`);
  });
  const [port] = (await Promise.race([once(child, 'message'), ended])) as [number];
  ended.catch(() => {});
  return {
    port,
    pid: child.pid as number,
    async send(command) {
      child.send(command);
      const [{ response }] = (await once(child, 'message')) as [{ response: unknown }];
      return response;
    },
    async stop() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
};
