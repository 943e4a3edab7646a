/**
 * `npm run bench`: each benchmark has a file and prints a table that compares our figures with the floor. Runs
 * alternate and medians are reported, because machines are shared and noisy.
 *
 * - `npm run bench -- reads ingest`: only these benchmarks
 * - `npm run bench -- --quick`: short forms of most benchmarks, in under a minute
 * - `npm run bench -- evaluation docs`: these need Chromium, like console, and run only if named
 * - `npm run bench -- citus`: needs CITUS_BIN (test/citus/README.md)
 * - `--events 50000000`: events stored before the measurement (5,000,000; with --quick 200,000)
 * - `--minutes 5`: duration of sustained load (20 s; with --quick 1 s)
 * - `--save`: writes the figures to RESULTS.md
 */
import { parseArgs } from 'node:util';
import type { Benchmark, Options } from './benchmark.ts';
import { busyProcesses, machine, save } from './results.ts';
import { table, whole } from './table.ts';

/** `unnamed`: when a benchmark runs if none is named: always, always except with --quick, or never. */
const benchmarks: Readonly<Record<string, { readonly title: string; readonly unnamed?: 'in full' | 'never' }>> = {
  ingest: { title: 'How much does it cost to store an event durably?' },
  written: { title: 'How much is written to disk per event?' },
  import: { title: 'How fast are large batches stored?' },
  size: { title: 'How much disk space does an event take?' },
  contacts: { title: 'How fast are contacts created?' },
  search: { title: 'How long does a contact search take?' },
  linking: { title: 'How long does it take to link a user with a long history?' },
  reads: { title: 'How long does it take to read a page of events?' },
  counts: { title: 'How long does counting take?' },
  reports: { title: 'How long does a report take?' },
  priority: {
    title: 'How much do reports slow down ingestion, and how much does a busy machine slow down reports?',
    unnamed: 'never',
  },
  readers: { title: 'Do readers slow down ingestion?' },
  memory: { title: 'How much memory does the server use, and does it grow?' },
  restart: { title: 'How long is the server down after a crash?' },
  metrics: { title: 'How much does a scrape of /metrics cost?' },
  postgres: { title: 'How fast is PostgreSQL?', unnamed: 'never' },
  citus: { title: 'How fast is a Citus cluster?', unnamed: 'never' },
  copy: { title: 'How fast is a database copied to PostgreSQL, and back?', unnamed: 'never' },
  scaling: { title: 'What load can one machine handle, or several servers with one PostgreSQL?', unnamed: 'never' },
  evaluation: { title: "How much does the tracker's script slow down a page?", unnamed: 'never' },
  docs: { title: 'How fast do documentation pages paint?', unnamed: 'never' },
  console: { title: 'How fast does the console respond?', unnamed: 'never' },
  profile: { title: 'Where does the time go?', unnamed: 'in full' },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    events: { type: 'string' },
    minutes: { type: 'string' },
    save: { type: 'boolean', default: false },
  },
});
const fail = (message: string) => {
  console.error(message);
  process.exit(2);
};
const parseNumber = (text: string | undefined, fallback: number): number => {
  const number = text === undefined ? fallback : Number(text.replaceAll(/[_,]/g, ''));
  if (!(number > 0)) fail(`not a number: ${text}`);
  return number;
};
const { quick } = values;
const unknownNames = positionals.filter((name) => !Object.hasOwn(benchmarks, name));
if (unknownNames.length > 0)
  fail(`no such benchmark: ${unknownNames}; there are: ${Object.keys(benchmarks).join(', ')}`);
if (quick && values.save) fail('--save stores only full measurements: omit --quick');

const options: Options = {
  quick,
  events: parseNumber(values.events, quick ? 200_000 : 5_000_000),
  minutes: parseNumber(values.minutes, quick ? 0.02 : 1 / 3),
};
const isDefault = (name: string) => {
  const { unnamed } = benchmarks[name] ?? {};
  return unnamed === undefined || (unnamed === 'in full' && !quick);
};
const names = positionals.length > 0 ? positionals : Object.keys(benchmarks).filter(isDefault);

console.log(`${machine}; load before the benchmark: ${busyProcesses()}; ${whole(options.events)} events stored\n`);
for (const name of names) {
  const startTime = Date.now();
  const { run } = (await import(`./benchmarks/${name}.ts`)) as Benchmark;
  const rows = await run(options);
  const head = [name, 'floor', 'ours', 'ratio', 'bar'];
  const cells = rows.map(({ measured, floor = '', ours, ratio = '', bar }) => [measured, floor, ours, ratio, bar]);
  const seconds = Math.round((Date.now() - startTime) / 1_000);
  console.log(`## ${benchmarks[name]?.title}\n\n${table(head, cells)}\n\n(${seconds} s)\n`);
  if (values.save) save(name, rows, options);
}
