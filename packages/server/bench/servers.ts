/** The servers that a benchmark compares, each in a process of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** `durable`: ours. `nothing kept`: the same app over a store that only says that it kept. `bare`: node:http and JSON.parse. */
export type ServerKind = 'durable' | 'nothing kept' | 'bare';

export interface Running {
  readonly port: number;
  readonly token: string;
  stop(): Promise<void>;
}

export const startServer = async (kind: ServerKind, path: string): Promise<Running> => {
  const child: ChildProcess = fork(new URL('./server.ts', import.meta.url), [kind, path], {
    execArgv: ['--import', 'tsx'],
  });
  const [ready] = (await once(child, 'message')) as [{ port: number; token: string }];
  return {
    ...ready,
    async stop() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
};
