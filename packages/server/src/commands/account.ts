import type { Command } from 'commander';
import { hasScriptTag, inlineScriptSource, ownPathAdvice, scriptTag } from '../http/script-tag.ts';
import type { Store } from '../store/store.ts';
import { UsageError } from './shared/command-errors.ts';
import { addDatabase, asOperator, type DatabaseOptions, withStore } from './shared/database.ts';
import { addSettings, collect, toSettings } from './shared/flags.ts';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';

/** The settings in the script tag. */
const pathSettings = ['basePath', 'trackerPath', 'apiPrefix'] as const;

export const define = (command: Command): void => {
  const creating = command.command('create').description('create an account, with a browser and a server token');
  addSettings(addDatabase(creating), pathSettings)
    .requiredOption('--name <name>', "the account's name")
    .option('--origin <origin>', 'an origin whose pages may use the browser token; repeat the option for more', collect)
    .option('--browser-catalogue', 'let pages add new profile, tag and attribute IDs to the catalogues')
    .action(create);
  addDatabase(command.command('list').description('list the accounts')).action(list);
};

type CreateOptions = DatabaseOptions & {
  readonly name: string;
  readonly origin?: readonly string[];
  readonly browserCatalogue?: boolean;
};

const flagNames = (_: string, field: string): string => `--${field.toLowerCase()}`;

/**
 * The script tag for a site whose web server forwards BASE_PATH (or `/s/`, if BASE_PATH is `/`). Empty if the tracker
 * isn't built.
 */
export const formatScriptTag = (options: CreateOptions, token: string): string[] => {
  if (!hasScriptTag()) return [];
  const { basePath, ...paths } = toSettings(pathSettings, options);
  const site = options.origin?.find((origin) => !origin.includes('*'))?.replace(/\/$/, '') ?? 'https://shop.example';
  const root = `${site}${basePath === '/' ? '/s' : basePath.slice(0, -1)}`;
  const tag = scriptTag(root, token, paths);
  const policy = `To allow its first line in a Content Security Policy: ${inlineScriptSource(tag)}`;
  return ['', 'The script tag for a page:', '', ...tag.split('\n'), '', ...ownPathAdvice, policy];
};

/** Validates the flags as the API would, and returns a function that creates the account. Throws UsageError. */
export const prepareAccount = async (options: Pick<CreateOptions, 'name' | 'origin' | 'browserCatalogue'>) => {
  const [{ createAccountInput }, { check }, { createAccounts }] = await Promise.all([
    import('@firsthand/contract/account/account'),
    import('@firsthand/contract/checking'),
    import('../http/operations/accounts/accounts.ts'),
  ]);
  const { name: accountName, origin: accountOrigin, browserCatalogue } = options;
  const input = check(createAccountInput, { accountName, accountOrigin, browserCatalogue });
  if (!input.ok) throw new UsageError(input.problem.message.replace(/^`account(Name|Origin)\S*`/, flagNames));
  return (store: Store) => createAccounts(store).createAccount(input.value, asOperator());
};

const create = async (options: CreateOptions): Promise<void> => {
  const response = await withStore(options, await prepareAccount(options), { create: true });
  if (options.json) return printJSON({ ...response, status: '200' });
  const rows = toTable([
    ['Account', response.accountUUID],
    ['Browser token', response.browserTokenUUID],
    ['Server token', `${response.serverTokenUUID}  (secret; shown only once)`],
  ]);
  printLine([...rows, ...formatScriptTag(options, response.browserTokenUUID)]);
};

const list = async (options: DatabaseOptions): Promise<void> => {
  const accounts = await withStore(options, (store) => store.listAccounts());
  const output = accounts.map(({ accountUUID, accountName, createdTime }) => ({
    accountUUID,
    accountName,
    createdTime: new Date(createdTime).toISOString(),
  }));
  if (options.json) return printJSON(output);
  const rows = output.map(({ accountUUID, accountName, createdTime }) => [
    accountUUID,
    accountName,
    toMinute(createdTime),
  ]);
  printLine(toTable([['ACCOUNT', 'NAME', 'CREATED'], ...rows]));
};
