import type { Command } from 'commander';
import type { Store } from '../store/store.ts';
import { WrongUsage } from './shared/command-errors.ts';
import { addDatabase, asOperator, withStore } from './shared/database.ts';
import { collect, jsonFlag } from './shared/flags.ts';
import { printJSON, printLine, toList, toMinute, toTable } from './shared/printing.ts';

export const define = (command: Command): void => {
  addDatabase(command.command('create').description('create an account, with a browser and a server token'))
    .requiredOption('--name <name>', 'what the account is called')
    .option('--origin <origin>', 'origin whose pages may use the browser token; several times for several', collect)
    .option('--browser-catalogue', 'list the profiles, tags and attributes that pages use')
    .option(...jsonFlag)
    .action(create);
  addDatabase(command.command('list').description('list the accounts'))
    .option(...jsonFlag)
    .action(list);
};

interface CreateOptions {
  readonly name: string;
  readonly origin?: readonly string[];
  readonly browserCatalogue?: boolean;
  readonly json?: boolean;
}

const flagNames = (_: string, field: string): string => `--${field.toLowerCase()}`;

const create = async (options: CreateOptions & Record<string, unknown>): Promise<void> => {
  const [{ createAccountInput }, { check }, { createAccounts }] = await Promise.all([
    import('@firsthand/contract/account'),
    import('@firsthand/contract/checking'),
    import('../http/operations/accounts.ts'),
  ]);
  const { name: accountName, origin: accountOrigin, browserCatalogue } = options;
  const input = check(createAccountInput, { accountName, accountOrigin, browserCatalogue });
  if (!input.ok) throw new WrongUsage(input.problem.message.replace(/^`account(Name|Origin)\S*`/, flagNames));
  const work = (store: Store) => createAccounts(store).createAccount(input.value, asOperator());
  const answer = await withStore(options, work, { create: true });
  if (options.json) return printJSON({ ...answer, status: '200' });
  printLine(
    toList([
      ['Account', answer.accountUUID],
      ['Browser token', answer.browserTokenUUID],
      ['Server token', `${answer.serverTokenUUID}  (secret, and shown this once)`],
    ]),
  );
};

const list = async (options: { readonly json?: boolean } & Record<string, unknown>): Promise<void> => {
  const accounts = await withStore(options, (store) => store.listAccounts());
  if (options.json) {
    return printJSON(
      accounts.map(({ accountUUID, accountName, createdTime }) => ({
        accountUUID,
        accountName,
        createdTime: new Date(createdTime).toISOString(),
      })),
    );
  }
  const rows = accounts.map(({ accountUUID, accountName, createdTime }) => [
    accountUUID,
    accountName,
    toMinute(createdTime),
  ]);
  printLine(toTable(['ACCOUNT', 'NAME', 'CREATED'], rows));
};
