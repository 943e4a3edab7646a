/**
 * Starts a benchmark's processes, bundled like a built server. TypeScript that tsx compiles on load runs more slowly,
 * because its output sets each function's name whenever the function is created.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, threads } from '../../build/bundle.ts';

const toPath = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const entries = ['server', 'load', 'reader', 'report-client'] as const;
export type EntryName = (typeof entries)[number];

const built = toPath('../../dist/bench');
let building: Promise<unknown> | undefined;

/** Starts a bundled process with a server's heap settings. */
export const forkBuilt = async (name: EntryName, ...args: readonly string[]): Promise<ChildProcess> => {
  building ??= bundle([...entries.map((entry) => `bench/processes/${entry}.ts`), ...threads], built);
  await building;
  return fork(join(built, `${name}.cjs`), [...args], { execArgv: ['--import', toPath('../../bin/heap.js')] });
};

/** Starts a process from its sources, so that a profile shows each function's file. */
export const forkSources = (name: EntryName, ...args: readonly string[]): ChildProcess =>
  fork(toPath(`./${name}.ts`), [...args], { execArgv: ['--import', toPath('../../bin/heap.js'), '--import', 'tsx'] });
