#!/usr/bin/env node
// The command line: as it was built (npm run build) while that is newer than its sources, since it starts in a sixth of
// the time; else the sources themselves, which are TypeScript: tsx, told to look at no tsconfig.json of the folder that it
// is called from, runs them.
import './heap.js';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { dist, isBuilt } from './built.js';

if (isBuilt()) {
  const { load } = createRequire(import.meta.url)('./load.cjs');
  load(fileURLToPath(new URL('main.cjs', dist)));
} else {
  const { register } = await import('tsx/esm/api');
  register({ tsconfig: false });
  await import('../src/main.ts');
}
