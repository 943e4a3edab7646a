#!/usr/bin/env node
// The command line is TypeScript: tsx, told to look at no tsconfig.json of the folder that it is called from, runs it.
import { register } from 'tsx/esm/api';

register({ tsconfig: false });
await import('../src/main.ts');
