/**
 * `npm run bench`: one file for each question, each printing a table with the floor beside our figure. Runs alternate
 * within one process group and medians are told, since machines are shared and noisy. `--quick` for a short form; a
 * name runs that question alone.
 */
import { availableParallelism, cpus, totalmem } from 'node:os';

const questions = ['ingest', 'restart'] as const;

const args = process.argv.slice(2);
const quick = args.includes('--quick');
const named = args.filter((arg) => !arg.startsWith('--'));
const unknown = named.filter((name) => !(questions as readonly string[]).includes(name));
if (unknown.length > 0) {
  console.error(`no such benchmark: ${unknown.join(', ')}; there are: ${questions.join(', ')}`);
  process.exit(2);
}

const gibibytes = Math.round(totalmem() / 1024 ** 3);
console.log(`Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model.trim()}, ${gibibytes} GiB\n`);
for (const question of named.length > 0 ? named : questions) {
  const { run } = (await import(`./${question}.ts`)) as { run: (quick: boolean) => Promise<void> };
  await run(quick);
}
