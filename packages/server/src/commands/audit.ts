import { auditActions } from '@firsthand/contract/account/audit';
import { type Command, Option } from 'commander';
import type { AuditEntry } from '../store/store.ts';
import { WrongUsage } from './shared/command-errors.ts';
import { accountOf, addDatabase, type DatabaseOptions, withStore } from './shared/database.ts';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';

export const define = (command: Command): void => {
  addDatabase(command.command('list').description('list who did what to whom, newest first'))
    .option('--account <accountUUID>', 'only of this account; by default also entries that no account has')
    .addOption(new Option('--action <action>', 'only of this action').choices(auditActions))
    .option('--limit <count>', 'the most entries to list', '100')
    .option('--before <auditID>', 'only entries before this one: the last auditID of the previous page')
    .action(list);
};

type Options = DatabaseOptions & {
  readonly account?: string;
  readonly action?: AuditEntry['action'];
  readonly limit: string;
  readonly before?: string;
};

const maxEntries = 10_000;

const wholeNumber = (flag: string, text: string, most: number): number => {
  if (/^\d{1,15}$/.test(text) && Number(text) >= 1 && Number(text) <= most) return Number(text);
  throw new WrongUsage(`${flag} must be a whole number from 1 to ${most}`);
};

const list = async (options: Options): Promise<void> => {
  const limit = wholeNumber('--limit', options.limit, maxEntries);
  const beyond =
    options.before === undefined ? undefined : wholeNumber('--before', options.before, Number.MAX_SAFE_INTEGER);
  const { entries } = await withStore(options, async (store) =>
    store.listAudit({ account: await accountOf(store, options), action: options.action, limit, beyond }),
  );
  const shown = entries.map(({ audit, accountUUID, actor, action, subject, time }) => ({
    auditID: String(audit),
    auditTime: new Date(time).toISOString(),
    accountUUID: accountUUID ?? '',
    actor: actor ?? 'command',
    action,
    subject,
  }));
  if (options.json) return printJSON(shown);
  const rows = shown.map(({ auditID, auditTime, accountUUID, actor, action, subject }) => [
    auditID,
    toMinute(auditTime),
    accountUUID,
    actor,
    action,
    JSON.stringify(subject),
  ]);
  printLine(toTable([['AUDIT ID', 'TIME', 'ACCOUNT', 'ACTOR', 'ACTION', 'SUBJECT'], ...rows]));
};
