/** Runs `firsthand serve`, from the build or the sources, in a process that can be killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const toPath = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** Arguments for Node. */
export const commands = {
  'bare node:http': [
    '-e',
    `require('node:http').createServer((_, response) => response.end()).listen(process.env.PORT)`,
  ],
  'from the build': [toPath('bin/firsthand.js'), 'serve'],
  'from the sources': ['--import', 'tsx', toPath('src/main.ts'), 'serve'],
} as const;
export type CommandName = keyof typeof commands;

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  return port;
};

const isReady = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probeRequest = request({ host: '127.0.0.1', port, path: '/readyz', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    probeRequest.on('error', () => resolve(false)).end();
  });

export interface Service {
  readonly port: number;
  readonly pid: number;
  /** Milliseconds from the start of the process to the first response with status 200. */
  readonly readyMilliseconds: number;
  /** Sends SIGKILL, and waits until the process has exited. */
  kill(): Promise<void>;
}

export const startService = async (
  name: CommandName,
  database: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Service> => {
  const port = await freePort();
  const env = {
    ...process.env,
    DATABASE_URL: `sqlite:${database}`,
    PORT: String(port),
    LOG_LEVEL: 'error',
    ...settings,
  };
  const startTime = performance.now();
  const child: ChildProcess = spawn(process.execPath, commands[name], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  while (!(await isReady(port))) {
    if (child.exitCode !== null) throw new Error(`${name} exited with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return {
    port,
    pid: child.pid as number,
    readyMilliseconds: performance.now() - startTime,
    async kill() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
};
