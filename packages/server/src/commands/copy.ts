import { type Command, Option } from 'commander';
import type { CopyProgress } from '../store/database-export.ts';
import type { Store } from '../store/store.ts';
import { WrongUsage } from './shared/command-errors.ts';
import { withStore } from './shared/database.ts';
import { printLine, toTable } from './shared/printing.ts';

interface CopyOptions {
  readonly from: string;
  readonly to: string;
  readonly verify?: boolean;
}

export const define = (command: Command): void => {
  command
    .addOption(
      new Option('--from <url>', 'the database to copy: sqlite:<file> or postgres://…; no server may use it meanwhile')
        .env('FROM_DATABASE_URL')
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--to <url>',
        'where the copy goes: postgres://…, empty or with an interrupted copy; or back to sqlite:<file>, a new file',
      )
        .env('TO_DATABASE_URL')
        .makeOptionMandatory(),
    )
    .addHelpText(
      'after',
      '\nLists of processes (ps) show a password in a flag. Give the URLs in the environment variables, or the password\nin PGPASSWORD or PGPASSFILE, as for psql.',
    )
    .option('--verify', 'then compare everything that can be read of each account in both')
    .action(copy);
};

const tell = ({ sequence, last, events }: CopyProgress): void => {
  if (!process.stderr.isTTY) return;
  const share = Math.floor((100 * sequence) / Math.max(1, last));
  process.stderr.write(`\r${events.toLocaleString('en')} events, ${share} %`);
};

const databases = {
  sqlite: 'sqlite:<file>',
  postgres: 'postgres://user:password@host/database',
} as const;

const kindOf = (url: string): keyof typeof databases | undefined => {
  if (/^postgres(ql)?:\/\//.test(url)) return 'postgres';
  return /^sqlite:(?!:memory:$)./.test(url) ? 'sqlite' : undefined;
};

const copy = async ({ from, to, verify }: CopyOptions): Promise<void> => {
  const kind = kindOf(from);
  if (!kind) throw new WrongUsage(`--from must be ${databases.sqlite} or ${databases.postgres}`);
  const other = kind === 'sqlite' ? 'postgres' : 'sqlite';
  if (kindOf(to) !== other) throw new WrongUsage(`--to must be ${databases[other]}`);
  const { copyStore } = await import('../store/open.ts');
  await copyStore({ from, to, tell });
  if (process.stderr.isTTY) process.stderr.write('\n');
  printLine('Copied. From now on, serve the new database. The old one is unchanged.');
  if (verify)
    await withStore({ databaseUrl: from }, (source) =>
      withStore({ databaseUrl: to }, (target) => compare(source, target)),
    );
};

/** Compares all accounts of two databases, and prints a table. Throws if one differs. */
const compare = async (source: Store, target: Store): Promise<void> => {
  const { digestAccount } = await import('../store/verifying.ts');
  const rows: string[][] = [];
  const different: string[] = [];
  for (const each of await source.listAccounts()) {
    const account = await target.findAccount(each.accountUUID);
    const { events, contacts, checksum } = await digestAccount(source, each);
    const found = account === undefined ? undefined : await digestAccount(target, { ...each, account });
    const isSame = found?.checksum === checksum;
    if (!isSame) different.push(each.accountUUID);
    const verdict = isSame ? 'the same' : 'NOT THE SAME';
    rows.push([each.accountUUID, String(events), String(contacts), checksum.slice(0, 16), verdict]);
  }
  printLine(toTable([['ACCOUNT', 'EVENTS', 'CONTACTS', 'CHECKSUM', ''], ...rows]));
  if (different.length > 0) throw new Error(`the copy differs from the original in ${different.join(', ')}`);
};
