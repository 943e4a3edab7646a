/**
 * Builds the command, the store's two threads and the report process, each as one file with V8's compiled code, so that
 * they start quickly.
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
/** Changes when npm installs different packages. */
const installedPackages = '../../node_modules/.package-lock.json';

/** Starts and stops a server, and stores the code that V8 compiled in the process (bin/load.cjs). */
const writeCodeCache = async (): Promise<void> => {
  const data = await mkdtemp(join(tmpdir(), 'firsthand-build-'));
  const child = spawn(process.execPath, [join(folder, 'bin/firsthand.js'), 'serve'], {
    env: {
      ...process.env,
      DATABASE_URL: `sqlite:${join(data, 'firsthand.db')}`,
      HOST: '127.0.0.1',
      PORT: '0',
      BASE_PATH: '/',
      BACKUP_DIR: '',
      METRICS_PORT: '',
      LOG_LEVEL: 'info',
      FIRSTHAND_KEEP_COMPILED: '1',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const killTimer = setTimeout(() => child.kill('SIGKILL'), 20_000);
  const ended = once(child, 'close');
  let output = '';
  let isRequested = false;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    const [, url] = /"address":"([^"]+)"/.exec(output) ?? [];
    if (url === undefined || isRequested) return;
    isRequested = true;
    fetch(`${url}/readyz`).finally(() => child.kill('SIGTERM'));
  });
  const [code] = await ended;
  clearTimeout(killTimer);
  await rm(data, { recursive: true });
  if (code !== 0)
    console.warn(
      `the server was built, but its compiled code could not be stored, so it will start more slowly: ${output}`,
    );
};

const buildServer = async (): Promise<void> => {
  const startTime = new Date();
  // V8 distinguishes versions of a file only by length, so a stale cache must not remain.
  await rm(dist, { recursive: true, force: true });
  const { inputs: metadata } = await bundle(['src/main.ts', ...threads], dist);
  const inputs = Object.keys(metadata).filter((path) => !path.includes('node_modules'));
  // These files determine V8's flags and the cache.
  inputs.push(
    'build/build.ts',
    'build/bundle.ts',
    'bin/firsthand.js',
    'bin/heap.js',
    'bin/load.cjs',
    'bin/load-source.cjs',
    ...[installedPackages].filter((path) => existsSync(resolve(folder, path))),
  );
  await writeFile(inputsFile, JSON.stringify(inputs));
  // A source that changes during the build must be newer than this list.
  await utimes(inputsFile, startTime, startTime);
  await writeCodeCache();
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  // An unnecessary build could break a server that is starting.
  if (isBuilt()) console.log('dist/main.cjs is up to date');
  else await buildServer();
}
