/**
 * Makes of the sources what starts quickly: the command and the store's two threads, each bundled, and beside it what V8 compiles
 * of it for a start.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { dist as distURL, inputsFile, isBuilt } from '../bin/built.js';
import { bundle, threads } from './bundle.ts';

const folder = fileURLToPath(new URL('../', import.meta.url));
const dist = fileURLToPath(distURL);
/** Changes when npm installs other packages. */
const installed = '../../node_modules/.package-lock.json';

/** What V8 has compiled when a server has started and stopped is kept for the next start (bin/load.cjs). */
const keepCompiled = async (): Promise<void> => {
  const data = await mkdtemp(join(tmpdir(), 'firsthand-build-'));
  const child = spawn(process.execPath, [join(folder, 'bin/firsthand.js'), 'serve'], {
    env: {
      ...process.env,
      DATABASE_URL: `sqlite:${join(data, 'firsthand.db')}`,
      HOST: '127.0.0.1',
      PORT: '0',
      BASE_PATH: '/',
      LOG_LEVEL: 'info',
      FIRSTHAND_KEEP_COMPILED: '1',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const tooLong = setTimeout(() => child.kill('SIGKILL'), 20_000);
  const ended = once(child, 'close');
  let output = '';
  let asked = false;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    const [, url] = /"address":"([^"]+)"/.exec(output) ?? [];
    if (url === undefined || asked) return;
    asked = true;
    fetch(`${url}/readyz`).finally(() => child.kill('SIGTERM'));
  });
  const [code] = await ended;
  clearTimeout(tooLong);
  await rm(data, { recursive: true });
  if (code !== 0) console.warn(`the server was built, and will start more slowly than it could: ${output}`);
};

/** Builds into dist/. */
const buildServer = async (): Promise<void> => {
  const began = new Date();
  // V8 tells what it kept for other files by their lengths only.
  await rm(dist, { recursive: true, force: true });
  const { inputs: made } = await bundle(['src/main.ts', ...threads], dist);
  const inputs = Object.keys(made).filter((path) => !path.includes('node_modules'));
  // With other flags, V8 compiles anew.
  inputs.push(
    'build/build.ts',
    'build/bundle.ts',
    'bin/firsthand.js',
    'bin/heap.js',
    'bin/load.cjs',
    ...[installed].filter((path) => existsSync(resolve(folder, path))),
  );
  await writeFile(inputsFile, JSON.stringify(inputs));
  // What was changed meanwhile is newer than that.
  await utimes(inputsFile, began, began);
  await keepCompiled();
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  // A server may be starting from it at this moment.
  if (isBuilt()) console.log('dist/main.cjs is newer than its sources');
  else await buildServer();
}
