/** The servers that a benchmark compares, each in a process of its own. */
import { once } from 'node:events';
import { forkBuilt, forkSources } from './forking.ts';

/** `durable`: ours. `reporting`: ours with reports, in a folder beside the database. `nothing kept`: the same app over a store that discards. `bare`: node:http and JSON.parse. */
export type ServerKind = 'durable' | 'reporting' | 'nothing kept' | 'bare';

/**
 * Commands to a server beside its requests. `event loop delay` returns the 99th percentile, in milliseconds, since the watch began;
 * `profiled` returns a profile of each thread since `profile`.
 */
export type Asked = 'watch the event loop' | 'event loop delay' | 'profile' | 'profiled';

export interface Running {
  readonly port: number;
  readonly pid: number;
  ask(what: Asked): Promise<unknown>;
  stop(): Promise<void>;
}

/** The settings of the process of reports. */
export interface Priority {
  readonly niceness: number;
  readonly threads: number;
}

/** Whether to run the build instead of the sources. */
export const startServer = async (
  kind: ServerKind,
  path: string,
  from: 'build' | 'sources' = 'build',
  priority?: Priority,
): Promise<Running> => {
  const args = [kind, path, ...(priority ? [String(priority.niceness), String(priority.threads)] : [])];
  const child = from === 'build' ? await forkBuilt('server', ...args) : forkSources('server', ...args);
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the ${kind} server ended before it listened`);
  });
  const [port] = (await Promise.race([once(child, 'message'), ended])) as [number];
  ended.catch(() => {});
  return {
    port,
    pid: child.pid as number,
    async ask(what) {
      child.send(what);
      const [{ answer }] = (await once(child, 'message')) as [{ answer: unknown }];
      return answer;
    },
    async stop() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
};
