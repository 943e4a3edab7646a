import { auditActions } from '@firsthand/contract/audit';
import { type Command, Option } from 'commander';
import type { AuditEntry } from '../store/store.ts';
import { WrongUsage } from './shared/command-errors.ts';
import { addDatabase, withStore } from './shared/database.ts';
import { jsonFlag } from './shared/flags.ts';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';

export const define = (command: Command): void => {
  addDatabase(command.command('list').description('list who did what to whom, newest first'))
    .option('--account <accountUUID>', 'in this account only; without it, also what is of the whole service')
    .addOption(new Option('--action <action>', 'this action only').choices(auditActions))
    .option('--limit <count>', 'how many entries', '100')
    .option('--before <auditID>', 'entries before this one: the last of the page before')
    .option(...jsonFlag)
    .action(list);
};

interface Options extends Record<string, unknown> {
  readonly account?: string;
  readonly action?: AuditEntry['action'];
  readonly limit: string;
  readonly before?: string;
  readonly json?: boolean;
}

const mostEntries = 10_000;

const wholeNumber = (flag: string, text: string, most: number): number => {
  if (/^\d{1,15}$/.test(text) && Number(text) >= 1 && Number(text) <= most) return Number(text);
  throw new WrongUsage(`${flag} must be a whole number from 1 to ${most}`);
};

const list = async (options: Options): Promise<void> => {
  const { account: accountUUID, action } = options;
  const limit = wholeNumber('--limit', options.limit, mostEntries);
  const beyond =
    options.before === undefined ? undefined : wholeNumber('--before', options.before, Number.MAX_SAFE_INTEGER);
  const { entries } = await withStore(options, async (store) => {
    const account = accountUUID === undefined ? undefined : await store.findAccount(accountUUID);
    if (accountUUID !== undefined && account === undefined) throw new Error(`there is no account ${accountUUID}`);
    return store.listAudit({ account, action, limit, beyond });
  });
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
    toMinute(Date.parse(auditTime)),
    accountUUID,
    actor,
    action,
    JSON.stringify(subject),
  ]);
  printLine(toTable(['AUDIT ID', 'TIME', 'ACCOUNT', 'ACTOR', 'ACTION', 'SUBJECT'], rows));
};
