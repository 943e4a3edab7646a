import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { formatCount } from '../shared/format-count.ts';
import type { Store } from '../store/store.ts';
import { UsageError } from './shared/command-errors.ts';
import { addDatabase, type DatabaseOptions, findAccountNumber, withStore } from './shared/database.ts';
import { printJSON, printLine } from './shared/printing.ts';

type ExportOptions = DatabaseOptions & { readonly account: string; readonly since?: string };

export const define = (command: Command): void => {
  addDatabase(command)
    .argument('<folder>', 'the folder for the files; new or empty without --since')
    .requiredOption('--account <accountUUID>', 'the account whose events are exported')
    .option('--since <start>', 'add what is new since the last export to this folder: last, or a time for a new folder')
    .addOption(new Option('--format <format>', 'the format of the files').choices(['parquet']).default('parquet'))
    .addHelpText(
      'after',
      `
Without --since, all events are written to a new folder, each with its current owner.

With --since last, the first export to a folder contains all events, and each later export adds the new events. It also
replaces the tables of contacts, links and owners, and removes events that have since been erased or deleted.
--since 2026-11-01T00:00:00Z does the same, but omits events that happened before that time.`,
    )
    .action(runExport);
};

/** Parses --since. Returns undefined for `last`. Throws UsageError if it is neither that nor a time. */
const parseSince = async (since: string): Promise<string | undefined> => {
  if (since === 'last') return undefined;
  const { time } = await import('@firsthand/contract/fields');
  const parsed = time.safeParse(since);
  if (!parsed.success) throw new UsageError(`--since must be "last", or a time: ${parsed.error.issues[0]?.message}`);
  return new Date(parsed.data).toISOString();
};

const loadExport = () =>
  Promise.all([
    import('./export/all-events.ts'),
    import('./export/event-parts.ts'),
    import('./export/increment.ts'),
  ]).catch((cause) => {
    throw new Error('the optional dependency @duckdb/node-api is required, but not installed', { cause });
  });

const runExport = async (folder: string, options: ExportOptions): Promise<void> => {
  const since = options.since === undefined ? undefined : await parseSince(options.since);
  await withStore(options, (store) =>
    options.since === undefined ? exportAll(store, folder, options) : exportSince(store, folder, since, options),
  );
};

const exportAll = async (store: Store, folder: string, options: ExportOptions): Promise<void> => {
  const account = (await findAccountNumber(store, options)) as number;
  const [{ exportAllEvents }, { readEventPages }] = await loadExport();
  const { files, events } = await exportAllEvents(resolve(folder), readEventPages(store, { account }));
  if (options.json) return printJSON({ files, events });
  printLine(
    `Wrote ${formatCount(events, 'event')} to ${files.length === 1 ? 'one file' : `${files.length} files`} in ${folder}`,
  );
};

const exportSince = async (
  store: Store,
  folder: string,
  since: string | undefined,
  options: ExportOptions,
): Promise<void> => {
  const account = (await findAccountNumber(store, options)) as number;
  const [, , { exportIncrement }] = await loadExport();
  const increment = await exportIncrement(store, {
    account,
    accountUUID: options.account,
    folder: resolve(folder),
    since,
  });
  if (options.json) return printJSON(increment);
  const { events, removed, restarted } = increment;
  if (restarted !== null) printLine(`Exported everything again, because ${restarted}`);
  printLine(`Added ${formatCount(events, 'event')} to ${folder}${removed > 0 ? `, and removed ${removed}` : ''}`);
};
