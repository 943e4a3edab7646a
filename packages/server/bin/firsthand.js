#!/usr/bin/env node
// The command line. Runs the build if it is newer than its sources, because that starts in a sixth of the time; otherwise tsx runs the
// sources, which are TypeScript. tsx must not use a tsconfig.json of the current folder.
import './heap.js';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { dist, isBuilt } from './built.js';

if (isBuilt()) {
  const { load } = createRequire(import.meta.url)('./load.cjs');
  load(fileURLToPath(new URL('main.cjs', dist)));
} else {
  const { register } = await import('tsx/esm/api');
  register({ tsconfig: fileURLToPath(new URL('../tsconfig.json', import.meta.url)) });
  await import('../src/main.ts');
}
