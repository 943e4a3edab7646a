import { auditActions } from '@firsthand/contract/account/audit';
import { type Command, Option } from 'commander';
import type { AuditEntry } from '../store/store.ts';
import { UsageError } from './shared/command-errors.ts';
import { addDatabase, type DatabaseOptions, findAccountNumber, withStore } from './shared/database.ts';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';

export const define = (command: Command): void => {
  addDatabase(command.command('list').description('list audit entries, newest first'))
    .option('--account <accountUUID>', "only this account's entries; by default, also entries without an account")
    .addOption(new Option('--action <action>', 'only entries with this action').choices(auditActions))
    .option('--limit <count>', 'the maximum number of entries', '100')
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

const parseWholeNumber = (flag: string, text: string, max: number): number => {
  if (/^\d{1,15}$/.test(text) && Number(text) >= 1 && Number(text) <= max) return Number(text);
  throw new UsageError(`${flag} must be a whole number from 1 to ${max}`);
};

const list = async (options: Options): Promise<void> => {
  const limit = parseWholeNumber('--limit', options.limit, maxEntries);
  const beyond =
    options.before === undefined ? undefined : parseWholeNumber('--before', options.before, Number.MAX_SAFE_INTEGER);
  const { entries } = await withStore(options, async (store) =>
    store.listAudit({ account: await findAccountNumber(store, options), action: options.action, limit, beyond }),
  );
  const output = entries.map(({ audit, accountUUID, actor, action, subject, time }) => ({
    auditID: String(audit),
    auditTime: new Date(time).toISOString(),
    accountUUID: accountUUID ?? '',
    actor: actor ?? 'command',
    action,
    subject,
  }));
  if (options.json) return printJSON(output);
  const rows = output.map(({ auditID, auditTime, accountUUID, actor, action, subject }) => [
    auditID,
    toMinute(auditTime),
    accountUUID,
    actor,
    action,
    JSON.stringify(subject),
  ]);
  printLine(toTable([['AUDIT ID', 'TIME', 'ACCOUNT', 'ACTOR', 'ACTION', 'SUBJECT'], ...rows]));
};
