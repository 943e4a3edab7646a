/**
 * Runs the client in other runtimes with a server in this process: `client-runtimes.ts deno bun`, where each argument
 * is the path to a runtime. Exits with 1 if the client fails in any of them.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@firsthand/client';
import { pino } from 'pino';
import { readConfig } from '../../src/config/config.ts';
import { serve } from '../../src/serving/serve.ts';

const script = fileURLToPath(new URL('client-session.ts', import.meta.url));
const commands: Readonly<Record<string, readonly string[]>> = {
  deno: ['run', '--no-remote', '--node-modules-dir=manual', '--allow-net', '--allow-read', '--allow-env', script],
  bun: ['run', script],
  node: ['--import', 'tsx', script],
};

const run = (program: string, args: readonly string[]) =>
  new Promise<number>((resolve, reject) => {
    const env = { ...process.env, DENO_NO_UPDATE_CHECK: '1', DO_NOT_TRACK: '1' };
    spawn(program, args, { stdio: 'inherit', env, timeout: 120_000 })
      .on('error', reject)
      .on('exit', (code) => resolve(code ?? 1));
  });

const folder = mkdtempSync(join(tmpdir(), 'firsthand-runtimes-'));
const operatorToken = 'operator_of-a-test-0123456789abc';
const env = { PORT: '0', DATABASE_URL: `sqlite:${join(folder, 'firsthand.db')}`, OPERATOR_TOKEN: operatorToken };
const { url, close } = await serve(readConfig(env), { log: pino({ level: 'silent' }) });
try {
  for (const program of process.argv.slice(2)) {
    const { serverTokenUUID } = await createClient({ url, token: operatorToken }).createAccount({
      accountName: 'Shop',
    });
    const code = await run(program, [...(commands[basename(program)] ?? [script]), url, serverTokenUUID]);
    console.log(`${program}: ${code === 0 ? 'passed' : 'failed'}`);
    if (code !== 0) process.exitCode = 1;
  }
} finally {
  await close();
  rmSync(folder, { recursive: true });
}
