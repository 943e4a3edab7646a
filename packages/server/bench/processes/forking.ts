/**
 * The processes of a benchmark, bundled like a built server. TypeScript that is compiled while it is loaded runs more slowly, because tsx
 * names each function again whenever it is created.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, threads } from '../../build/bundle.ts';

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const entries = ['server', 'load', 'reader', 'asker'] as const;
export type EntryName = (typeof entries)[number];

const built = pathOf('../../dist/bench');
let building: Promise<unknown> | undefined;

/** Uses the heap settings of a server, unless V8 is given other flags. */
export const forkBuilt = async (name: EntryName, ...args: readonly string[]): Promise<ChildProcess> => {
  building ??= bundle([...entries.map((entry) => `bench/processes/${entry}.ts`), ...threads], built);
  await building;
  return fork(join(built, `${name}.cjs`), [...args], { execArgv: ['--import', pathOf('../../bin/heap.js')] });
};

/** The same from the sources, so that a profile shows the file of each function. */
export const forkSources = (name: EntryName, ...args: readonly string[]): ChildProcess =>
  fork(pathOf(`./${name}.ts`), [...args], { execArgv: ['--import', pathOf('../../bin/heap.js'), '--import', 'tsx'] });
