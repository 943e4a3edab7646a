/** The command line. Each noun has a file in commands/, which is loaded when the noun is used: `firsthand --help` loads none. */
import { Command, CommanderError } from 'commander';
import { exitCodeOf, explain } from './commands/shared/command-errors.ts';
import { printComplaint } from './commands/shared/printing.ts';
import { version } from './version.ts';

// Files are readable for their owner only, because databases, their logs and their copies hold personal data.
process.umask(0o077);

const nouns = [
  { name: 'serve', summary: 'run the service', load: () => import('./commands/serve.ts') },
  { name: 'account', summary: 'create and list accounts', load: () => import('./commands/account.ts') },
  { name: 'demo-data', summary: 'fill a sample shop', load: () => import('./commands/demo-data.ts') },
  { name: 'token', summary: 'create, list and revoke tokens', load: () => import('./commands/token.ts') },
  {
    name: 'user',
    summary: 'invite and list people who sign in to the console',
    load: () => import('./commands/user.ts'),
  },
  { name: 'audit', summary: 'list who did what to whom', load: () => import('./commands/audit.ts') },
  { name: 'event', summary: 'log and list events of the running server', load: () => import('./commands/event.ts') },
  { name: 'report', summary: 'count what people did', load: () => import('./commands/report.ts') },
  { name: 'contact', summary: 'show a contact of the running server', load: () => import('./commands/contact.ts') },
  {
    name: 'refused',
    summary: 'list refused requests, and send them again',
    load: () => import('./commands/refused.ts'),
  },
  { name: 'export', summary: 'write events to files of Parquet', load: () => import('./commands/export.ts') },
  { name: 'copy', summary: 'move to PostgreSQL, or back', load: () => import('./commands/copy.ts') },
  {
    name: 'migrate',
    summary: 'update the schema of a PostgreSQL database',
    load: () => import('./commands/migrate.ts'),
  },
  { name: 'backup', summary: 'copy the database', load: () => import('./commands/backup.ts') },
  {
    name: 'restore',
    summary: 'put a backup in the place of the database',
    load: () => import('./commands/restore.ts'),
  },
  { name: 'doctor', summary: 'examine the database', load: () => import('./commands/doctor.ts') },
];

const program = new Command('firsthand')
  .description('Stores browser events, links them to contacts, and answers queries about them.')
  .version(version)
  .exitOverride();

for (const { name, summary } of nouns) program.command(name).description(summary);

program.hook('preSubcommand', async (_, command) => {
  const noun = await nouns.find(({ name }) => name === command.name())?.load();
  noun?.define(command);
});

/** Handled before Commander, which would load the command's file first. */
const isVersionAsked = (args: readonly string[]): boolean => args.includes('--version') || args.includes('-V');

/** The options without a value of commands that take an ID. */
const flags = ['--descendants', '--json'];

/** An ID may begin with a hyphen (nanoid). Behind `--` Commander takes none for an option. The value of an option stays where it is. */
const withIDsLast = (args: readonly string[]): readonly string[] => {
  const isValue = (before = ''): boolean => before.startsWith('--') && !flags.includes(before);
  const isID = (arg: string, index: number): boolean => /^-\w[\w-]{19}$/.test(arg) && !isValue(args[index - 1]);
  const ids = args.filter(isID);
  if (ids.length === 0 || args.includes('--')) return args;
  return [...args.filter((arg, index) => !isID(arg, index)), '--', ...ids];
};

const run = async (args: readonly string[]): Promise<void> => {
  if (isVersionAsked(args)) {
    process.stdout.write(`${version}\n`);
    return;
  }
  try {
    // Becomes `token --help` for `help token`, for which Commander would not load the noun.
    await program.parseAsync(args[0] === 'help' ? [...args.slice(1), '--help'] : withIDsLast(args), { from: 'user' });
  } catch (error) {
    // Commander has written its message itself.
    if (!(error instanceof CommanderError)) printComplaint(`firsthand: ${explain(error)}`);
    process.exitCode = exitCodeOf(error);
  }
};

/** Resolves when the command has ended, for programs that import this file. */
export const ended = run(process.argv.slice(2));
