/**
 * Compiles the package in the current folder for npm, by its tsconfig.build.json: `node --import tsx ../emit.ts`. Also
 * rewrites `./client.ts` to `./client.js` in declarations, where rewriteRelativeImportExtensions has no effect.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [folder = 'dist'] = process.argv.slice(2);

// The contract's own tsc is the TypeScript 5 that openapi-typescript needs.
const tsc = fileURLToPath(new URL('../node_modules/.bin/tsc', import.meta.url));

rmSync(folder, { recursive: true, force: true });
execFileSync(tsc, ['-b', 'tsconfig.build.json'], { stdio: 'inherit' });
for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  if (!file.endsWith('.d.ts')) continue;
  const path = join(folder, file);
  writeFileSync(path, readFileSync(path, 'utf8').replace(/((?:from|import\() ?'\.{1,2}\/[^'\n]+)\.ts'/g, "$1.js'"));
}
