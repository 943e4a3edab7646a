import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { start, startServer, temporaryDatabase, temporaryFolder } from './fixtures/command.ts';

const packages = fileURLToPath(new URL('../../', import.meta.url));

beforeAll(() => {
  // Does nothing when that is newer than its sources already.
  execFileSync(process.execPath, ['--import', 'tsx', join(packages, 'server/build/build.ts')]);
});

/** A copy of the built server among the sources that it was made of, and one of them that a test may change. */
const copyOfBuilt = () => {
  const root = temporaryFolder();
  const server = join(root, 'packages/server');
  mkdirSync(server, { recursive: true });
  symlinkSync(join(packages, '../node_modules'), join(root, 'node_modules'));
  for (const name of ['contract', 'client', 'tracker', 'tsconfig.base.json'])
    symlinkSync(join(packages, name), join(root, 'packages', name));
  symlinkSync(join(packages, 'server/src'), join(server, 'src'));
  for (const name of ['bin', 'dist', 'build', 'package.json', 'tsconfig.json']) {
    cpSync(join(packages, 'server', name), join(server, name), { recursive: true, preserveTimestamps: true });
  }
  appendFileSync(join(server, 'dist/main.cjs'), "process.stderr.write('as it was built');");
  return server;
};

const says = async (server: string) => {
  const { ended } = start(process.execPath, [join(server, 'bin/firsthand.js'), '--help'], {});
  const { code, stdout, stderr } = await ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Usage: firsthand /) });
  return stderr;
};

it('the command runs as it was built', async () => {
  expect(await says(copyOfBuilt())).toBe('as it was built');
});

it('the command runs its sources when one is newer, gone, or the build is half done', async () => {
  const newer = copyOfBuilt();
  utimesSync(join(newer, 'build/build.ts'), new Date(), new Date());
  expect(await says(newer)).toBe('');

  const gone = copyOfBuilt();
  writeFileSync(join(gone, 'dist/inputs.json'), '["src/gone.ts"]');
  expect(await says(gone)).toBe('');

  const half = copyOfBuilt();
  writeFileSync(join(half, 'dist/inputs.json'), '[');
  expect(await says(half)).toBe('');
});

it('a built server finds its migrations, its threads, the tracker, the documentation and the demo page', async () => {
  const { env } = temporaryDatabase();
  const { url } = await startServer(env, '--demo');
  expect(existsSync(join(packages, 'server/dist/inputs.json'))).toBe(true);
  for (const path of ['/readyz', '/demo/', '/docs/', '/tracker.js'])
    expect((await fetch(`${url}${path}`)).status).toBe(200);
});
