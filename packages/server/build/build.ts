/**
 * Builds what starts quickly: the command, the two threads of the store and the process of reports, each in one file, with the code that V8 compiles from them.
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

/** Starts and stops a server, and stores the code that V8 compiled meanwhile for the next start (bin/load.cjs). */
const keepCompiled = async (): Promise<void> => {
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
  if (code !== 0)
    console.warn(
      `the server was built, but its compiled code could not be stored, so it starts more slowly: ${output}`,
    );
};

/** Builds into dist/. */
const buildServer = async (): Promise<void> => {
  const began = new Date();
  // V8 tells two versions of a file apart by their length only.
  await rm(dist, { recursive: true, force: true });
  const { inputs: made } = await bundle(['src/main.ts', ...threads], dist);
  const inputs = Object.keys(made).filter((path) => !path.includes('node_modules'));
  // With other flags V8 compiles again.
  inputs.push(
    'build/build.ts',
    'build/bundle.ts',
    'bin/firsthand.js',
    'bin/heap.js',
    'bin/load.cjs',
    'bin/load-source.cjs',
    ...[installed].filter((path) => existsSync(resolve(folder, path))),
  );
  await writeFile(inputsFile, JSON.stringify(inputs));
  // Sources that changed during the build must be newer than the list.
  await utimes(inputsFile, began, began);
  await keepCompiled();
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  // An unneeded build could break a server that is starting.
  if (isBuilt()) console.log('dist/main.cjs is newer than its sources');
  else await buildServer();
}
