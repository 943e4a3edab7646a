import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { start, startServer, temporaryDatabase, temporaryFolder } from './fixtures/command.ts';
import { createAccount, operatorToken } from './fixtures/serving.ts';

const packages = fileURLToPath(new URL('../../', import.meta.url));

beforeAll(() => {
  // Builds the server. Has no effect if the build is newer than its sources.
  execFileSync(process.execPath, ['--import', 'tsx', join(packages, 'server/build/build.ts')]);
});

/** Creates a copy of the built server next to links to its sources, so that a test can change the `build` folder. */
const copyOfBuilt = () => {
  const root = temporaryFolder();
  const server = join(root, 'packages/server');
  mkdirSync(server, { recursive: true });
  symlinkSync(join(packages, '../node_modules'), join(root, 'node_modules'));
  for (const name of ['contract', 'client', 'import-formats', 'tracker', 'tsconfig.base.json'])
    symlinkSync(join(packages, name), join(root, 'packages', name));
  symlinkSync(join(packages, 'server/src'), join(server, 'src'));
  for (const name of ['bin', 'dist', 'build', 'package.json', 'tsconfig.json']) {
    cpSync(join(packages, 'server', name), join(server, name), { recursive: true, preserveTimestamps: true });
  }
  appendFileSync(join(server, 'dist/main.cjs'), "process.stderr.write('as it was built');");
  return server;
};

const readStderr = async (server: string) => {
  const { ended } = start(process.execPath, [join(server, 'bin/firsthand.js'), '--help'], {});
  const { code, stdout, stderr } = await ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Usage: firsthand /) });
  return stderr;
};

it('runs the built command', async () => {
  expect(await readStderr(copyOfBuilt())).toBe('as it was built');
});

it('runs from source if a source file is newer than the build or was deleted, or the build is incomplete', async () => {
  const newer = copyOfBuilt();
  utimesSync(join(newer, 'build/build.ts'), new Date(), new Date());
  expect(await readStderr(newer)).toBe('');

  const missing = copyOfBuilt();
  writeFileSync(join(missing, 'dist/inputs.json'), '["src/gone.ts"]');
  expect(await readStderr(missing)).toBe('');

  const incomplete = copyOfBuilt();
  writeFileSync(join(incomplete, 'dist/inputs.json'), '[');
  expect(await readStderr(incomplete)).toBe('');
});

it('finds the migrations, threads, tracker, documentation and demo page in a built server', async () => {
  const { env } = temporaryDatabase();
  const { url } = await startServer(env, '--demo');
  expect(existsSync(join(packages, 'server/dist/inputs.json'))).toBe(true);
  for (const path of ['/readyz', '/demo/', '/docs/', '/tracker.js'])
    expect((await fetch(`${url}${path}`)).status).toBe(200);
});

it('serves MCP from a build, which loads the protocol library from node_modules', async () => {
  const { url } = await startServer({ ...temporaryDatabase().env, OPERATOR_TOKEN: operatorToken });
  const { serverTokenUUID } = await createAccount(url);
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${serverTokenUUID}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"result":{}')]);
});
