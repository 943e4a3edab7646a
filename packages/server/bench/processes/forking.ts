/**
 * The processes of a benchmark, bundled as a server is that was built: compiled as it is loaded, TypeScript runs more slowly (tsx
 * names each function anew whenever it is made), and would take from what is measured.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, threads } from '../../build/bundle.ts';

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const entries = ['server', 'load', 'reader'] as const;
type EntryName = (typeof entries)[number];

const built = pathOf('../../dist/bench');
let building: Promise<unknown> | undefined;

/** With the same heap as a server's, unless V8 is given other flags. */
export const forkBuilt = async (name: EntryName, ...args: readonly string[]): Promise<ChildProcess> => {
  building ??= bundle([...entries.map((entry) => `bench/processes/${entry}.ts`), ...threads], built);
  await building;
  return fork(join(built, `${name}.cjs`), [...args], { execArgv: ['--import', pathOf('../../bin/heap.js')] });
};

/** The same from its sources, so that a profile tells where each function stands. */
export const forkSources = (name: EntryName, ...args: readonly string[]): ChildProcess =>
  fork(pathOf(`./${name}.ts`), [...args], { execArgv: ['--import', pathOf('../../bin/heap.js'), '--import', 'tsx'] });
