/**
 * `npm run bench`: each question has a file and prints a table with the floor beside our figure. Runs alternate and medians are reported,
 * because machines are shared and noisy.
 *
 *   npm run bench -- reads ingest       only these questions
 *   npm run bench -- --quick            short forms of nearly all, under a minute
 *   npm run bench -- evaluation docs    need Chromium, as console does, and run only if they are named
 *   npm run bench -- citus              needs CITUS_BIN (test/citus/README.md)
 *   --events 50000000                   events stored beforehand (5,000,000; with --quick 200,000)
 *   --minutes 5                         duration of sustained load (20 s; with --quick 1 s)
 *   --save                              writes the figures to RESULTS.md
 */
import { parseArgs } from 'node:util';
import type { Options, Question } from './question.ts';
import { busyProcesses, machine, save } from './results.ts';
import { table, whole } from './table.ts';

/** Whether a question runs when none is named: always, not in the short form, or never. */
const questions: Readonly<Record<string, { readonly asks: string; readonly unnamed?: 'in full' | 'never' }>> = {
  ingest: { asks: 'What does keeping an event durably cost?' },
  written: { asks: 'How much is written to the disk for an event?' },
  import: { asks: 'How fast do large batches go in?' },
  size: { asks: 'How much of the disk does an event take?' },
  contacts: { asks: 'How fast are contacts created?' },
  search: { asks: 'How long does a search of contacts take?' },
  linking: { asks: 'What does linking cost a user with a long history?' },
  reads: { asks: 'How long does a page of events take?' },
  counts: { asks: 'How long does counting take?' },
  reports: { asks: 'How long does a report take?' },
  priority: { asks: 'What do reports cost ingestion, and a busy machine reports?', unnamed: 'never' },
  readers: { asks: 'Do readers hold up ingestion?' },
  memory: { asks: 'How much memory does the server take, and does it grow?' },
  restart: { asks: 'How long is nobody served after a crash?' },
  metrics: { asks: 'What does a scrape of /metrics cost?' },
  postgres: { asks: 'What does the same cost on PostgreSQL?', unnamed: 'never' },
  citus: { asks: 'What does the same cost on a Citus cluster?', unnamed: 'never' },
  copy: { asks: 'How fast is a database copied to PostgreSQL, and back?', unnamed: 'never' },
  scaling: { asks: 'What does one machine carry, and what several servers over one PostgreSQL?', unnamed: 'never' },
  evaluation: { asks: "What does the tracker's script cost a page?", unnamed: 'never' },
  docs: { asks: 'How soon does a page of the documentation show something?', unnamed: 'never' },
  console: { asks: 'How soon does the console react?', unnamed: 'never' },
  profile: { asks: 'Where does the time go?', unnamed: 'in full' },
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
const numberOf = (text: string | undefined, fallback: number): number => {
  const number = text === undefined ? fallback : Number(text.replaceAll(/[_,]/g, ''));
  if (!(number > 0)) fail(`not a number: ${text}`);
  return number;
};
const { quick } = values;
const unknown = positionals.filter((name) => !Object.hasOwn(questions, name));
if (unknown.length > 0) fail(`no such benchmark: ${unknown}; there are: ${Object.keys(questions).join(', ')}`);
if (quick && values.save) fail('--save keeps what was measured in full: not with --quick');

const options: Options = {
  quick,
  events: numberOf(values.events, quick ? 200_000 : 5_000_000),
  minutes: numberOf(values.minutes, quick ? 0.02 : 1 / 3),
};
const isUsual = (name: string) => {
  const { unnamed } = questions[name] ?? {};
  return unnamed === undefined || (unnamed === 'in full' && !quick);
};
const asked = positionals.length > 0 ? positionals : Object.keys(questions).filter(isUsual);

console.log(`${machine}; before this ${busyProcesses()}; ${whole(options.events)} events stored\n`);
for (const name of asked) {
  const began = Date.now();
  const { run } = (await import(`./questions/${name}.ts`)) as Question;
  const rows = await run(options);
  const head = [name, 'floor', 'ours', 'ratio', 'bar'];
  const cells = rows.map(({ measured, floor = '', ours, ratio = '', bar }) => [measured, floor, ours, ratio, bar]);
  const seconds = Math.round((Date.now() - began) / 1_000);
  console.log(`## ${questions[name]?.asks}\n\n${table(head, cells)}\n\n(${seconds} s)\n`);
  if (values.save) save(name, rows, options);
}
