#!/usr/bin/env node
// The command line: as it was built (npm run build) while that is newer than its sources, since it starts in a sixth of
// the time; else the sources themselves, which are TypeScript: tsx, told to look at no tsconfig.json of the folder that it
// is called from, runs them.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { dist, isBuilt } from './built.js';

// Garbage is collected when a heap has grown by a fifth. V8 would let it grow several times over, and large requests that are turned away
// leave much: on a slow disk that was 60 MB more.
setFlagsFromString('--heap-growing-percent=20');

if (isBuilt()) {
  const { load } = createRequire(import.meta.url)('./load.cjs');
  load(fileURLToPath(new URL('main.cjs', dist)));
} else {
  const { register } = await import('tsx/esm/api');
  register({ tsconfig: false });
  await import('../src/main.ts');
}
