import type { Command } from 'commander';
import { hasScriptTag, inlineScriptSource, ownPathAdvice, scriptTag } from '../http/script-tag.ts';
import type { Store } from '../store/store.ts';
import { WrongUsage } from './shared/command-errors.ts';
import { addDatabase, asOperator, type DatabaseOptions, withStore } from './shared/database.ts';
import { addSettings, collect, settingsOf } from './shared/flags.ts';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';

/** For the script tag, which has these paths of the server. */
const pathSettings = ['basePath', 'trackerPath', 'apiPrefix'] as const;

export const define = (command: Command): void => {
  const creating = command.command('create').description('create an account, with a browser and a server token');
  addSettings(addDatabase(creating), pathSettings)
    .requiredOption('--name <name>', 'the name of the account')
    .option('--origin <origin>', 'an origin whose pages may use the browser token; repeat the option for more', collect)
    .option('--browser-catalogue', 'add the profile, tag and attribute IDs that pages use to the catalogues')
    .action(create);
  addDatabase(command.command('list').description('list the accounts')).action(list);
};

type CreateOptions = DatabaseOptions & {
  readonly name: string;
  readonly origin?: readonly string[];
  readonly browserCatalogue?: boolean;
};

const flagNames = (_: string, field: string): string => `--${field.toLowerCase()}`;

/** The script tag of a site whose web server passes on BASE_PATH, or `/s/` if that is `/`. None if the tracker isn't built. */
export const tagLines = (options: CreateOptions, token: string): string[] => {
  if (!hasScriptTag()) return [];
  const { basePath, ...paths } = settingsOf(pathSettings, options);
  const site = options.origin?.find((origin) => !origin.includes('*'))?.replace(/\/$/, '') ?? 'https://shop.example';
  const root = `${site}${basePath === '/' ? '/s' : basePath.slice(0, -1)}`;
  const tag = scriptTag(root, token, paths);
  const policy = `A Content Security Policy allows its first line by ${inlineScriptSource(tag)}`;
  return ['', 'The script tag for a page:', '', ...tag.split('\n'), '', ...ownPathAdvice, policy];
};

/** Checks the flags, and returns a function that creates the account. Throws WrongUsage for what the API would refuse. */
export const accountFrom = async (options: Pick<CreateOptions, 'name' | 'origin' | 'browserCatalogue'>) => {
  const [{ createAccountInput }, { check }, { createAccounts }] = await Promise.all([
    import('@firsthand/contract/account/account'),
    import('@firsthand/contract/checking'),
    import('../http/operations/accounts/accounts.ts'),
  ]);
  const { name: accountName, origin: accountOrigin, browserCatalogue } = options;
  const input = check(createAccountInput, { accountName, accountOrigin, browserCatalogue });
  if (!input.ok) throw new WrongUsage(input.problem.message.replace(/^`account(Name|Origin)\S*`/, flagNames));
  return (store: Store) => createAccounts(store).createAccount(input.value, asOperator());
};

const create = async (options: CreateOptions): Promise<void> => {
  const answer = await withStore(options, await accountFrom(options), { create: true });
  if (options.json) return printJSON({ ...answer, status: '200' });
  const made = toTable([
    ['Account', answer.accountUUID],
    ['Browser token', answer.browserTokenUUID],
    ['Server token', `${answer.serverTokenUUID}  (secret, and shown this once)`],
  ]);
  printLine([...made, ...tagLines(options, answer.browserTokenUUID)]);
};

const list = async (options: DatabaseOptions): Promise<void> => {
  const accounts = await withStore(options, (store) => store.listAccounts());
  const shown = accounts.map(({ accountUUID, accountName, createdTime }) => ({
    accountUUID,
    accountName,
    createdTime: new Date(createdTime).toISOString(),
  }));
  if (options.json) return printJSON(shown);
  const rows = shown.map(({ accountUUID, accountName, createdTime }) => [
    accountUUID,
    accountName,
    toMinute(createdTime),
  ]);
  printLine(toTable([['ACCOUNT', 'NAME', 'CREATED'], ...rows]));
};
