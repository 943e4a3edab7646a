import type { Command } from 'commander';
import { Option } from 'commander';
import type { Progress } from '../sample-shop/fill.ts';
import { UsageError } from './shared/command-errors.ts';
import { addDatabase, type DatabaseOptions, withStore } from './shared/database.ts';
import { printJSON, printLine, toTable } from './shared/printing.ts';

export const define = (command: Command): void => {
  addDatabase(command)
    .option('--remove', 'remove the sample shop instead of creating it')
    .option('--seed <number>', 'a whole number; each seed generates different data', '1')
    // Used only by tests.
    .addOption(new Option('--events <number>').default('40000').hideHelp())
    .action((options) => (options.remove ? remove(options) : fill(options)));
};

type FillOptions = DatabaseOptions & { readonly seed: string; readonly events: string };

const parseWholeNumber = (flag: string, text: string): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`${flag} must be a whole number of at most 9 digits; not ${JSON.stringify(text)}`);
};

const printProgress = ({ events, of }: Progress): void => {
  if (process.stderr.isTTY)
    process.stderr.write(`\r${events.toLocaleString('en')} of ${of.toLocaleString('en')} events`);
};

const fill = async (options: FillOptions): Promise<void> => {
  const seed = parseWholeNumber('--seed', options.seed);
  const events = parseWholeNumber('--events', options.events);
  const { fillSampleShop } = await import('../sample-shop/fill.ts');
  const work = { seed, events, onProgress: printProgress };
  const shop = await withStore(options, (store) => fillSampleShop(store, work), { create: true });
  if (options.json) return printJSON(shop);
  if (process.stderr.isTTY) process.stderr.write('\n');
  printLine([
    `The account "${shop.accountName}" contains a month of a small shop's data: ${events.toLocaleString('en')} events.`,
    '',
    ...toTable([
      ['Account', shop.accountUUID],
      ['Contacts', String(shop.contacts)],
      ['Users', String(shop.users)],
      ['Browser token', shop.browserTokenUUID],
      ['Server token', `${shop.serverTokenUUID}  (secret; shown only once)`],
    ]),
    '',
    'Use the server token to sign in to the console, at /console/ on a running server.',
  ]);
};

const printDeleted = (events: number): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r${events.toLocaleString('en')} events`);
};

const remove = async (options: DatabaseOptions): Promise<void> => {
  const { removeSampleShop } = await import('../sample-shop/account.ts');
  const removed = await withStore(options, (store) => removeSampleShop(store, { onProgress: printDeleted }));
  if (!removed)
    throw new Error('there is no sample shop: only an account created by firsthand demo-data can be removed');
  if (options.json) return printJSON(removed);
  if (process.stderr.isTTY) process.stderr.write('\n');
  const { accountUUID, deletedEvents } = removed;
  printLine(`Removed the sample shop (account ${accountUUID}) and its ${deletedEvents.toLocaleString('en')} events.`);
};
