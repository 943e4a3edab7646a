import { type Command, Option } from 'commander';
import type { CopyProgress } from '../store/database-export.ts';
import type { Store } from '../store/store.ts';
import { UsageError } from './shared/command-errors.ts';
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
      new Option('--from <url>', 'the database to copy: sqlite:<file> or postgres://…; stop its server first')
        .env('FROM_DATABASE_URL')
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--to <url>',
        'the destination: postgres://…, empty or with an interrupted copy; or sqlite:<file>, a new file',
      )
        .env('TO_DATABASE_URL')
        .makeOptionMandatory(),
    )
    .addHelpText(
      'after',
      '\nProcess listings (ps) show a password in a flag. Set the URLs in the environment variables, or the password\nin PGPASSWORD or PGPASSFILE, as for psql.',
    )
    .option('--verify', 'then compare all data of each account in both databases')
    .action(copy);
};

const printProgress = ({ sequence, last, events }: CopyProgress): void => {
  if (!process.stderr.isTTY) return;
  const share = Math.floor((100 * sequence) / Math.max(1, last));
  process.stderr.write(`\r${events.toLocaleString('en')} events, ${share} %`);
};

const databases = {
  sqlite: 'sqlite:<file>',
  postgres: 'postgres://user:password@host/database',
} as const;

const toKind = (url: string): keyof typeof databases | undefined => {
  if (/^postgres(ql)?:\/\//.test(url)) return 'postgres';
  return /^sqlite:(?!:memory:$)./.test(url) ? 'sqlite' : undefined;
};

const copy = async ({ from, to, verify }: CopyOptions): Promise<void> => {
  const kind = toKind(from);
  if (!kind) throw new UsageError(`--from must be ${databases.sqlite} or ${databases.postgres}`);
  const other = kind === 'sqlite' ? 'postgres' : 'sqlite';
  if (toKind(to) !== other) throw new UsageError(`--to must be ${databases[other]}`);
  const { copyStore } = await import('../store/open.ts');
  await copyStore({ from, to, onProgress: printProgress });
  if (process.stderr.isTTY) process.stderr.write('\n');
  printLine('Copied. Use the new database from now on. The old one is unchanged.');
  if (verify)
    await withStore({ databaseUrl: from }, (source) =>
      withStore({ databaseUrl: to }, (target) => compare(source, target)),
    );
};

/** Compares all accounts of two databases and prints a table. Throws if any account differs. */
const compare = async (source: Store, target: Store): Promise<void> => {
  const { digestAccount } = await import('../store/verifying.ts');
  const rows: string[][] = [];
  const different: string[] = [];
  for (const each of await source.listAccounts()) {
    const account = await target.findAccount(each.accountUUID);
    const { events, contacts, checksum } = await digestAccount(source, each);
    const copied = account === undefined ? undefined : await digestAccount(target, { ...each, account });
    const isSame = copied?.checksum === checksum;
    if (!isSame) different.push(each.accountUUID);
    const verdict = isSame ? 'identical' : 'DIFFERENT';
    rows.push([each.accountUUID, String(events), String(contacts), checksum.slice(0, 16), verdict]);
  }
  printLine(toTable([['ACCOUNT', 'EVENTS', 'CONTACTS', 'CHECKSUM', ''], ...rows]));
  if (different.length > 0) throw new Error(`the copy differs from the original in ${different.join(', ')}`);
};
