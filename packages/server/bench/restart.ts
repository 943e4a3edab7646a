/**
 * How long is nobody served after a crash? From starting the process to the first 200, after kill -9: as it was built, from
 * its sources, and beside both a process that only listens.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, table, whole } from './table.ts';

const pathOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

const commands: Readonly<Record<string, readonly string[]>> = {
  'node:http alone': ['-e', `require('node:http').createServer((_, answer) => answer.end()).listen(process.env.PORT)`],
  'as it was built': [pathOf('bin/firsthand.js'), 'serve'],
  'from its sources': ['--import', 'tsx', pathOf('src/main.ts'), 'serve'],
};

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  return port;
};

const isReady = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, path: '/readyz', agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.on('error', () => resolve(false)).end();
  });

/** Milliseconds until it was ready; killed afterwards. */
const start = async (args: readonly string[], database: string): Promise<number> => {
  const port = await freePort();
  const env = { ...process.env, DATABASE_URL: `sqlite:${database}`, PORT: String(port), LOG_LEVEL: 'error' };
  const began = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  while (!(await isReady(port))) {
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const milliseconds = performance.now() - began;
  child.kill('SIGKILL');
  await once(child, 'exit');
  return milliseconds;
};

export const run = async (quick: boolean): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-restart-'));
  const times = new Map(Object.keys(commands).map((name) => [name, [] as number[]]));
  // The first round makes the database.
  for (let round = 0; round <= (quick ? 5 : 30); round += 1) {
    for (const [name, args] of Object.entries(commands)) {
      const milliseconds = await start(args, join(folder, 'firsthand.db'));
      if (round > 0) times.get(name)?.push(milliseconds);
    }
  }
  rmSync(folder, { recursive: true });
  const rows = [...times].map(([name, all]) => [name, ...[median(all), Math.max(...all), Math.min(...all)].map(whole)]);
  console.log(`${table(['ready again, ms', 'median', 'longest', 'shortest'], rows)}\n`);
};
