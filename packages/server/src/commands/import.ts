/** `firsthand import`: imports files of events from other tools, lists imports, and undoes them. */
import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Client, ResponseFor } from '@firsthand/client';
import { limits } from '@firsthand/contract/limits';
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
import { formatCount } from '../shared/format-count.ts';
import { hashFile } from './shared/hash-file.ts';
import { openSource, readStart } from './shared/open-source.ts';
import { printError, printJSON, printLine, toMinute, toTable } from './shared/printing.ts';
import { addServerOptions, connect, type ServerOptions } from './shared/server.ts';

export const define = (command: Command): void => {
  addServerOptions(command)
    .argument('[files...]', 'event files: JSON lines, JSON, CSV or Parquet, optionally compressed with gzip')
    .addOption(
      new Option('--format <format>', 'the format; by default detected from the first row').choices(formatNames),
    )
    .option('--dry-run', 'only check the files, and store nothing')
    .addHelpText('after', '\nIf it was interrupted, run the same command again: each file is imported exactly once.')
    .action((files: readonly string[], options: ImportOptions) =>
      files.length === 0 ? command.help({ error: true }) : importFiles(files, options),
    );
  // Commander assigns the flags of subcommands to this command, which has flags with the same names.
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

/**
 * Checks a file's format. Returns a function that reads it, because only a limited number of files can be open at a
 * time.
 */
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

interface SourceFile {
  readonly path: string;
  readonly readAll: ReadAll;
}

/** Imports a file. Returns the result and its description. */
const importFile = async (
  client: Client,
  { path, readAll }: SourceFile,
  { format, dryRun = false }: ImportOptions,
): Promise<{ readonly result: object; readonly text: string }> => {
  const importName = basename(path);
  const file = dryRun
    ? undefined
    : ({ kind: 'events', importName, fingerprint: await hashFile(path, format) } as const);
  const begun = file && (await client.createImport(file));
  if (begun?.state === 'complete')
    return { result: begun, text: `imported before, as ${begun.importID}. Nothing has changed` };
  let printed = 0;
  const { unreadable, ...counts } = await importEvents({
    readings: readAll(),
    position: begun?.position ?? 0,
    send: (batch) => client.importEvents({ ...batch, ...(begun ? { importID: begun.importID } : { dryRun }) }),
    onRefused: (line, reason) => {
      printed += 1;
      if (printed <= maxPrinted) printError(`${importName}, line ${line}: ${reason}`);
    },
    onProgress: ({ imported, repeated }) => {
      if (process.stderr.isTTY) process.stderr.write(`\r${(imported + repeated).toLocaleString('en')} events `);
    },
  });
  if (process.stderr.isTTY) process.stderr.write('\n');
  if (!begun) return { result: { importName, ...counts }, text: toText(counts, dryRun) };
  // The totals of all runs, and of batches whose response was lost.
  const { importID, imported, repeated, refused } = await client.createImport(file);
  const totals = { ...counts, imported, repeated, refused: refused + unreadable };
  const importedNow = imported - begun.imported;
  const continued = begun.position > 0 ? `; ${importedNow} of them in this run, which continued it` : '';
  return {
    result: { importID, importName, ...totals, importedNow },
    text: `${toText(totals, dryRun)}${continued} (import ${importID})`,
  };
};

const importFiles = async (files: readonly string[], options: ImportOptions): Promise<void> => {
  const client = await connect(options);
  const sources: SourceFile[] = [];
  for (const path of files) sources.push({ path, readAll: await prepare(path, options.format) });
  const results: object[] = [];
  for (const source of sources) {
    const { result, text } = await importFile(client, source, options);
    results.push(result);
    if (!options.json) printLine(`${basename(source.path)}: ${text}`);
  }
  if (options.json) printJSON(results);
};

const list = async (options: ServerOptions): Promise<void> => {
  const client = await connect(options);
  const imports: ResponseFor<'listImports'>['import'] = [];
  for await (const page of client.pages('listImports', { limit: limits.importsPerPage })) imports.push(...page.import);
  if (options.json) return printJSON({ import: imports });
  if (imports.length === 0) return printLine('There are no imports');
  printLine(
    toTable([
      ['ID', 'FILE', 'KIND', 'STATE', 'BEGAN', 'IMPORTED', 'REPEATED', 'REFUSED'],
      ...imports.map(({ importID, importName, kind, state, createdTime, imported, repeated, refused }) => [
        ...[importID, importName, kind, state, toMinute(createdTime)],
        ...[imported, repeated, refused].map(String),
      ]),
    ]),
  );
};

const undo = async (importID: string, options: ServerOptions): Promise<void> => {
  const client = await connect(options);
  let response = await client.undoImport({ importID });
  // The server deletes events in the background; calling again returns the progress.
  while (response.state === 'undoing') {
    await wait(pollMilliseconds);
    response = await client.undoImport({ importID });
  }
  if (options.json) return printJSON(response);
  printLine(`Undid the import of ${response.importName}`);
  if (response.kept > 0)
    printLine(`${formatCount(response.kept, 'contact')} not removed: changed since the import, or used elsewhere`);
};
const pollMilliseconds = 500;
