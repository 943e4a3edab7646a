/** `firsthand import`: imports files of events from other tools, lists imports, and undoes them. */
import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  detectFormat,
  type EventCounts,
  type FormatName,
  formatNames,
  importEvents,
  type Reading,
  readMessages,
} from '@firsthand/import-formats';
import { type Command, Option } from 'commander';
import { hashFile } from './shared/hash-file.ts';
import { openSource, readStart } from './shared/open-source.ts';
import { printError, printJSON, printLine, toMinute, toTable } from './shared/printing.ts';
import { addServerOptions, connect, type ServerOptions } from './shared/server.ts';

export const define = (command: Command): void => {
  addServerOptions(command)
    .argument('[files...]', 'files of events: JSON lines, JSON, CSV or Parquet, also compressed with gzip')
    .addOption(new Option('--format <format>', 'by default recognized by the first row').choices(formatNames))
    .option('--dry-run', 'only check the files, and store nothing')
    .addHelpText('after', '\nIf it was interrupted, run the same command again: each file is imported exactly once.')
    .action((files: readonly string[], options: ImportOptions) =>
      files.length === 0 ? command.help({ error: true }) : importFiles(files, options),
    );
  // Commander gives their flags to this command, which has flags of the same names.
  addServerOptions(command.command('list').description('list imports of events and contacts, newest first')).action(
    (_, listing: Command) => list(listing.optsWithGlobals()),
  );
  addServerOptions(
    command.command('undo <importID>').description('remove what an import of events or contacts stored'),
  ).action((importID: string, _, undoing: Command) => undo(importID, undoing.optsWithGlobals()));
};

interface ImportOptions extends ServerOptions {
  readonly format?: FormatName;
  readonly dryRun?: boolean;
}

const parquet = Buffer.from('PAR1').toString('hex');

type ReadAll = () => AsyncIterable<Reading>;

/** Checks the format of a file. Returns a function that reads it, because few of many files can be open together. */
const prepare = async (path: string, format?: FormatName): Promise<ReadAll> => {
  const start = await readStart(path);
  if (start !== parquet) {
    const detected = format ?? (await detectFormat(openSource(path, start)));
    return () => readMessages(openSource(path, start), detected);
  }
  const { readParquetMessages } = await import('./shared/parquet-rows.ts').catch((cause) => {
    throw new Error('Parquet files need the optional dependency @duckdb/node-api, which is not installed', { cause });
  });
  return () => readParquetMessages(path, format);
};

const maxPrinted = 20;

const toText = ({ imported, repeated, refused, skipped }: EventCounts, dryRun: boolean): string => {
  const reasons = Object.entries(skipped).map(([reason, rows]) => `${rows} ${reason}`);
  const leftOut = reasons.length === 0 ? '' : `; left out: ${reasons.join(', ')}`;
  return `${dryRun ? 'would import' : 'imported'} ${imported}, repeated ${repeated}, refused ${refused}${leftOut}`;
};

const importFiles = async (files: readonly string[], options: ImportOptions): Promise<void> => {
  const { format, dryRun = false, json } = options;
  const client = await connect(options);
  const sources: { readonly path: string; readonly readAll: ReadAll }[] = [];
  for (const path of files) sources.push({ path, readAll: await prepare(path, format) });
  const results: object[] = [];
  for (const { path, readAll } of sources) {
    const name = basename(path);
    const created = dryRun
      ? undefined
      : await client.createImport({ kind: 'events', importName: name, fingerprint: await hashFile(path, format) });
    if (created?.state === 'complete') {
      results.push(created);
      if (!json) printLine(`${name}: imported before, as ${created.importID}. Nothing has changed`);
      continue;
    }
    const { importID, position = 0 } = created ?? {};
    let printed = 0;
    const counts = await importEvents({
      readings: readAll(),
      position,
      send: (batch) => client.importEvents({ ...batch, ...(dryRun ? { dryRun } : { importID }) }),
      onRefused: (line, reason) => {
        printed += 1;
        if (printed <= maxPrinted) printError(`${name}, line ${line}: ${reason}`);
      },
      onProgress: ({ imported, repeated }) => {
        if (process.stderr.isTTY) process.stderr.write(`\r${(imported + repeated).toLocaleString('en')} events `);
      },
    });
    if (process.stderr.isTTY) process.stderr.write('\n');
    results.push({ ...(importID !== undefined && { importID }), importName: name, ...counts });
    if (!json) printLine(`${name}: ${toText(counts, dryRun)}${importID === undefined ? '' : ` (import ${importID})`}`);
  }
  if (json) printJSON(results);
};

const list = async (options: ServerOptions): Promise<void> => {
  const client = await connect(options);
  const answer = await client.listImports({});
  if (options.json) return printJSON(answer);
  if (answer.import.length === 0) return printLine('There are no imports');
  printLine(
    toTable([
      ['ID', 'FILE', 'KIND', 'STATE', 'BEGAN', 'IMPORTED', 'REPEATED', 'REFUSED'],
      ...answer.import.map(({ importID, importName, kind, state, createdTime, imported, repeated, refused }) => [
        ...[importID, importName, kind, state, toMinute(createdTime)],
        ...[imported, repeated, refused].map(String),
      ]),
    ]),
  );
};

const undo = async (importID: string, options: ServerOptions): Promise<void> => {
  const client = await connect(options);
  let answer = await client.undoImport({ importID });
  // The server deletes events in the background; a repeated call returns the progress.
  while (answer.state === 'undoing') {
    await wait(pollMilliseconds);
    answer = await client.undoImport({ importID });
  }
  if (options.json) return printJSON(answer);
  printLine(`Undid the import of ${answer.importName}`);
  if (answer.kept > 0) printLine(`${answer.kept} contacts stay, because something else has changed or uses them`);
};
const pollMilliseconds = 500;
