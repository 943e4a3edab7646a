/**
 * Checks the OpenAPI document from outside: Redocly's rules, and whether the client that openapi-typescript and openapi-fetch make
 * from it compiles with what the manual does. Nothing is sent anywhere.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openAPI } from '../src/openapi.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'firsthand-openapi-'));

/** A file of an installed package. */
const installed = (name: string, path = '') => {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const root = folders.map((modules) => join(modules, name)).find((each) => existsSync(each));
  if (root === undefined) throw new Error(`${name} is not installed: run npm install`);
  return join(root, path);
};

const run = (program: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    timeout: 120_000,
  });
  if (status !== 0) {
    process.stderr.write(stdout + stderr);
    process.exitCode = 1;
  }
};

try {
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(openAPI({ server: '/' }), null, 2));
  run(installed('@redocly/cli', 'bin/cli.js'), 'lint', '--config', join(here, 'redocly.yaml'), 'openapi.json');
  run(installed('openapi-typescript', 'bin/cli.js'), 'openapi.json', '--output', 'openapi.ts');
  copyFileSync(join(here, 'manual-examples.ts'), join(folder, 'manual-examples.ts'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  symlinkSync(dirname(installed('openapi-fetch')), join(folder, 'node_modules'));
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023', 'dom'],
    types: [],
    noEmit: true,
    allowImportingTsExtensions: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['manual-examples.ts'] }));
  run(installed('typescript', 'bin/tsc'), '--project', '.');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
