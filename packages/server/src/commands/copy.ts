import { type Command, Option } from 'commander';
import type { CopyProgress } from '../store/database-export.ts';
import { WrongUsage } from './shared/command-errors.ts';
import { printLine, toTable } from './shared/printing.ts';

interface CopyOptions {
  readonly from: string;
  readonly to: string;
  readonly verify?: boolean;
}

export const define = (command: Command): void => {
  command
    .addOption(
      new Option('--from <url>', 'what is copied: sqlite:<file> or postgres://…, while no server has it')
        .env('FROM_DATABASE_URL')
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--to <url>',
        'postgres://…, empty or with a copy that was interrupted; or back to sqlite:<file>, a new one',
      )
        .env('TO_DATABASE_URL')
        .makeOptionMandatory(),
    )
    .addHelpText(
      'after',
      '\nA password stands in ps when it stands in a flag: give the URLs in the environment, or the password in\nPGPASSWORD or PGPASSFILE, as to psql.',
    )
    .option('--verify', 'compare both afterwards: all that can be read of each account')
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
  printLine('Copied. From now on, serve the new one: the old one stays as it was.');
  if (verify) await compare(from, to);
};

/** Compares all accounts of two databases, and prints a table. Throws if one differs. */
const compare = async (from: string, to: string): Promise<void> => {
  const [{ openStore }, { digestAccount }] = await Promise.all([
    import('../store/open.ts'),
    import('../store/verifying.ts'),
  ]);
  const onFatal = (error: Error) => {
    throw error;
  };
  const [source, target] = await Promise.all(
    [from, to].map((databaseURL) => openStore({ databaseURL, role: 'beside', onFatal })),
  );
  if (!source || !target) return;
  try {
    const rows: string[][] = [];
    const different: string[] = [];
    for (const each of await source.listAccounts()) {
      const account = await target.findAccount(each.accountUUID);
      const expected = await digestAccount(source, each);
      const found = account === undefined ? undefined : await digestAccount(target, { ...each, account });
      const isSame = found?.checksum === expected.checksum;
      if (!isSame) different.push(each.accountUUID);
      const { events, contacts, checksum } = expected;
      rows.push([
        each.accountUUID,
        String(events),
        String(contacts),
        checksum.slice(0, 16),
        isSame ? 'the same' : 'NOT THE SAME',
      ]);
    }
    printLine(toTable(['ACCOUNT', 'EVENTS', 'CONTACTS', 'CHECKSUM', ''], rows));
    if (different.length > 0) throw new Error(`the copy answers differently for ${different.join(', ')}`);
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
};
