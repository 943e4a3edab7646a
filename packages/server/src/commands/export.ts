import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { Store, StoredEvent } from '../store/store.ts';
import { addDatabase, type DatabaseOptions, findAccountNumber, withStore } from './shared/database.ts';
import { printJSON, printLine } from './shared/printing.ts';

type ExportOptions = DatabaseOptions & { readonly account: string };

export const define = (command: Command): void => {
  addDatabase(command)
    .argument('<folder>', 'the folder for the files, which must be new or empty')
    .requiredOption('--account <accountUUID>', 'the account whose events are exported')
    .addOption(new Option('--format <format>', 'the format of the files').choices(['parquet']).default('parquet'))
    .action(exportEvents);
};

const eventsPerPage = 1_000;

/** Reads all events in the order in which they were stored, each with its owner when its page is read. */
async function* readPages(store: Store, account: number): AsyncGenerator<readonly StoredEvent[]> {
  for (let beyond: number | undefined; ; ) {
    const { events, next } = await store.getEvents({ account, order: 'asc', limit: eventsPerPage, beyond });
    if (events.length > 0) yield events;
    if (next === null) return;
    beyond = next;
  }
}

const exportEvents = (folder: string, options: ExportOptions): Promise<void> =>
  withStore(options, async (store) => {
    const account = (await findAccountNumber(store, options)) as number;
    const { writeParquet } = await import('./shared/parquet-files.ts').catch((cause) => {
      throw new Error('the optional dependency @duckdb/node-api is required, but not installed', { cause });
    });
    const { files, events } = await writeParquet(resolve(folder), readPages(store, account));
    if (options.json) return printJSON({ files, events });
    printLine(`Wrote ${events} events to ${files.length === 1 ? 'one file' : `${files.length} files`} in ${folder}`);
  });
