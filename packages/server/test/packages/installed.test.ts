import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningCommand, start } from '../fixtures/command.ts';
import { copyCompiledSQLite, findTarball, packageNames, root } from './tarballs.ts';

let folder: string;
let serving: RunningCommand;
let url: string;
let env: Readonly<Record<string, string>>;

const bin = () => join(folder, 'node_modules/.bin/firsthand');
const write = (file: string, text: string) => {
  mkdirSync(join(folder, file, '..'), { recursive: true });
  writeFileSync(join(folder, file), text);
};

/** Runs a command in the folder, and returns its output. If the command fails, throws an error with its output. */
const run = async (file: string, args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await start(file, args, env, folder).ended;
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} exited with ${code}: ${stdout}${stderr}`);
  return stdout;
};
const firsthandJSON = async (...args: string[]) => JSON.parse(await run(bin(), [...args, '--json']));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-installed-'));
  env = { npm_config_update_notifier: 'false' };
  write('package.json', '{ "private": true, "type": "module" }');
  const quiet = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel', 'error'];
  // Removes npm_config_local_prefix, which `npm run` sets, and with which npm would install into this repository.
  const { npm_config_local_prefix, ...npmEnv } = process.env;
  execFileSync('npm', ['install', ...quiet, ...packageNames.map(findTarball)], { cwd: folder, env: npmEnv });
  copyCompiledSQLite(folder);
  serving = start('npx', ['firsthand', 'serve', '--demo', '--port', '0', '--log-level', 'info'], env, folder);
  [, url = ''] = await serving.waitForOutput(/"address":"([^"]+)"/);
  const [, token = ''] = await serving.waitForOutput(/Server token +(server_\S+)/);
  env = { ...env, PORT: new URL(url).port, FIRSTHAND_TOKEN: token };
});
afterAll(async () => {
  serving.child.kill('SIGTERM');
  await serving.ended;
  rmSync(folder, { recursive: true });
});

it('serves with npx firsthand serve --demo from the packed files, without sources or tsx', async () => {
  expect(existsSync(join(folder, 'node_modules/tsx'))).toBe(false);
  for (const path of ['/readyz', '/demo/', '/docs/', '/docs/reference/logEvent', '/openapi.json'])
    expect((await fetch(`${url}${path}`)).status).toBe(200);
  const script = await (await fetch(`${url}/tracker.js`)).text();
  expect(script).toBe(readFileSync(join(folder, 'node_modules/firsthand/dist/tracker/tracker.js'), 'utf8'));
  expect(await (await fetch(`${url}/demo/`)).text()).toMatch(/data-token="browser_/);
});

it('prints the package’s version with npx firsthand --version', async () => {
  const { version } = JSON.parse(readFileSync(join(folder, 'node_modules/firsthand/package.json'), 'utf8'));
  expect(await run('npx', ['firsthand', '--version'])).toBe(`${version}\n`);
});

it('runs commands while the server is running: account create, event log, report, backup and doctor', async () => {
  const account = await firsthandJSON('account', 'create', '--name', 'Shop');
  const token: string = account.serverTokenUUID;
  env = { ...env, FIRSTHAND_TOKEN: token };
  const logged = await firsthandJSON('event', 'log', '--event-id', '7', '--user', 'a-browser-of-a-test');
  const { event } = await firsthandJSON('event', 'list', '--user', 'a-browser-of-a-test');
  expect(event).toMatchObject([{ eventID: 7, eventUUID: logged.eventUUID }]);
  const { total } = await firsthandJSON('report', 'totals', '--from', '2020-01-01');
  expect(total).toMatchObject({ events: 1, people: 1 });
  await run(bin(), ['backup', 'copy.db']);
  expect(existsSync(join(folder, 'copy.db'))).toBe(true);
  const { ok, finding } = await firsthandJSON('doctor');
  expect(ok).toBe(true);
  expect(finding).toContainEqual({ name: 'tracker', ok: true, detail: expect.stringMatching(/^built 2/) });
});

it('applies source maps with --enable-source-maps', async () => {
  const script = `
    const main = require.resolve('./node_modules/firsthand/dist/main.cjs');
    require('./node_modules/firsthand/bin/load.cjs').load(main);
    const { sources } = require('node:module').findSourceMap(main).payload;
    console.log(sources.some((path) => path.endsWith('/firsthand/src/main.ts')));`;
  const args = ['--enable-source-maps', '--input-type=commonjs', '-e', script, '--', 'x', '--version'];
  expect(await run(process.execPath, args)).toMatch(/^true$/m);
});

/** Returns the JavaScript example in a package's README. */
const exampleOf = (name: string): string =>
  /```js\n([\s\S]*?)```/.exec(readFileSync(join(folder, 'node_modules', name, 'README.md'), 'utf8'))?.[1] ?? '';

it('logs an event with the client, and reads it back', async () => {
  write(
    'client.js',
    `import { createClient } from '@firsthand/client';
    const client = createClient({ url: ${JSON.stringify(url)}, token: process.env.FIRSTHAND_TOKEN });
    await client.logEvent({ userUUID: 'visitor-of-the-client', eventName: 'Installed' });
    for await (const { event } of client.pages('getEvent', { userUUID: 'visitor-of-the-client' })) {
      for (const { eventID, eventName } of event) console.log(eventID, eventName);
    }`,
  );
  expect(await run(process.execPath, ['client.js'])).toBe('1000000 Installed\n');
});

it('runs the example in the contract’s README', async () => {
  write(
    'contract.js',
    `${exampleOf('@firsthand/contract')}\nconsole.log(limits.eventsPerBatch, errors.invalid_token.status);`,
  );
  expect(await run(process.execPath, ['contract.js'])).toBe('1000 401\n');
});

const use =
  "createTracker({ url: 'https://events.shop.example', token: 'browser_x' }).log(7, { product: 'Stone teapot' });";

it.each([
  ['import', 'rendering.js', `import { createTracker } from '@firsthand/tracker'; import '@firsthand/tracker/global';`],
  [
    'require',
    'rendering.cjs',
    `const { createTracker } = require('@firsthand/tracker'); require('@firsthand/tracker/global');`,
  ],
])(
  'loads the tracker without a window, as in a server component, where it has no effect: %s',
  async (_, file, importLines) => {
    write(file, `${importLines}\n${use}\nconsole.log(typeof createTracker);`);
    expect(await run(process.execPath, [file])).toBe('function\n');
  },
);

it('bundles only the page’s tracker with Vite', async () => {
  write('page/index.html', '<script type="module" src="./main.js"></script>');
  write('page/main.js', `import { createTracker } from '@firsthand/tracker';\n${use}`);
  await build({ root: join(folder, 'page'), configFile: false, logLevel: 'error' });
  const [script = ''] = readdirSync(join(folder, 'page/dist/assets')).filter((file) => file.endsWith('.js'));
  const text = readFileSync(join(folder, 'page/dist/assets', script), 'utf8');
  expect(text).toContain('browser_x');
  expect(text.length).toBeLessThan(9_000);
});

it.each([
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
])(
  'passes strict TypeScript, and TypeScript rejects wrong uses: module %s, resolution %s',
  async (module, moduleResolution) => {
    write(
      'src/page.ts',
      `import { createTracker } from '@firsthand/tracker';
import '@firsthand/tracker/global';

interface Bought { product: string }
interface Events { 7: Bought; 8: undefined }
const own = createTracker<Events>({ url: '/', token: 'browser_x' });
const bought: Bought = { product: 'Stone teapot' };
own.log(7, bought);
tracker.log(7, bought);
// @ts-expect-error a product is a string
own.log(7, { product: {} });
tracker.log(3, { price: 48 });
window.tracker.reset();
tracker.set({ plan: 'pro' });
// @ts-expect-error there is no such method
tracker.lock();
`,
    );
    write(
      'src/server.ts',
      `import { createClient, FirsthandError } from '@firsthand/client';
import type { ResponseOf } from '@firsthand/contract/operations';

const client = createClient({ url: '', token: '' });
export const first = async (): Promise<string | undefined> => {
  const response: ResponseOf<'getEvent'> = await client.getEvent({ userUUID: 'somebody', limit: 1 });
  return response.event[0]?.eventUUID;
};
// @ts-expect-error an event has no eventTitle
client.logEvent({ eventID: 3, eventTitle: '' });
export const isBusy = (error: unknown): boolean => error instanceof FirsthandError && error.code === 'unavailable';
`,
    );
    write(
      'src/required.cts',
      `import { createTracker } from '@firsthand/tracker';
import '@firsthand/tracker/global';
createTracker({ url: '/', token: 'browser_x' }).flush();
tracker.flush();
`,
    );
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      target: 'es2022',
      lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
      types: [],
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      module,
      moduleResolution,
    };
    write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['src'] }));
    expect(await run(join(root, 'node_modules/.bin/tsc'), ['-p', '.'])).toBe('');
  },
);
