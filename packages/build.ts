/** Builds the server and the packages that it serves, in parallel. Each build skips what is up to date. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const build = async (name: string): Promise<void> => {
  const script = fileURLToPath(new URL(`${name}/build/build.ts`, import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script], { stdio: 'inherit' });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`the build of ${name} failed with exit code ${code}`);
};

await Promise.all(['server', 'docs', 'console', 'tracker'].map(build));
