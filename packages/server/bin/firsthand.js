#!/usr/bin/env node
// The command line: as it was built (npm run build) while that is newer than its sources, since it starts in a quarter of
// the time; else the sources themselves, which are TypeScript: tsx, told to look at no tsconfig.json of the folder that it
// is called from, runs them.
import module from 'node:module';
import { dist, isBuilt } from './built.js';

// Node 22 and later keep what they have compiled for the next start.
module.enableCompileCache?.();

if (isBuilt()) {
  await import(new URL('main.js', dist).href);
} else {
  const { register } = await import('tsx/esm/api');
  register({ tsconfig: false });
  await import('../src/main.ts');
}
