/** The `firsthand` program. Each noun has a file beside this one, which is loaded when the noun is used: `firsthand --help` loads none. */
import { Command, CommanderError } from 'commander';
import { version } from '../shared/version.ts';
import { exitCodeOf, explain } from './shared/command-errors.ts';
import { printComplaint, printLine } from './shared/printing.ts';

const nouns = [
  {
    name: 'setup',
    summary: 'write the settings and the unit of a service, and create its first owner',
    load: () => import('./setup.ts'),
  },
  { name: 'serve', summary: 'run the service', load: () => import('./serve.ts') },
  { name: 'account', summary: 'create and list accounts', load: () => import('./account.ts') },
  { name: 'demo-data', summary: 'fill a sample shop', load: () => import('./demo-data.ts') },
  { name: 'token', summary: 'create, list and revoke tokens', load: () => import('./token.ts') },
  {
    name: 'user',
    summary: 'invite and list people who sign in to the console',
    load: () => import('./user.ts'),
  },
  {
    name: 'login-link',
    summary: 'print a link with which an owner signs in to the console',
    load: () => import('./login-link.ts'),
  },
  { name: 'audit', summary: 'list who did what to whom', load: () => import('./audit.ts') },
  { name: 'event', summary: 'log and list events of the running server', load: () => import('./event.ts') },
  { name: 'report', summary: 'count what people did', load: () => import('./report.ts') },
  { name: 'contact', summary: 'show a contact of the running server', load: () => import('./contact.ts') },
  {
    name: 'refused',
    summary: 'list refused requests, and send them again',
    load: () => import('./refused.ts'),
  },
  { name: 'export', summary: 'write events to files of Parquet', load: () => import('./export.ts') },
  { name: 'copy', summary: 'move to PostgreSQL, or back', load: () => import('./copy.ts') },
  {
    name: 'migrate',
    summary: 'update the schema of a PostgreSQL database',
    load: () => import('./migrate.ts'),
  },
  { name: 'backup', summary: 'copy the database', load: () => import('./backup.ts') },
  {
    name: 'restore',
    summary: 'put a backup in the place of the database',
    load: () => import('./restore.ts'),
  },
  { name: 'doctor', summary: 'examine the database', load: () => import('./doctor.ts') },
];

/** Sets the variables of an environment file that are not set. `firsthand setup` makes the file where there is none. */
const readSettingsFrom = async (file: string, noun: string): Promise<void> => {
  const { readEnvironmentFile } = await import('../config/environment-file.ts');
  const variables = readEnvironmentFile(file, { optional: noun === 'setup' });
  for (const [name, value] of Object.entries(variables)) process.env[name] ||= value;
};

const createProgram = (): Command => {
  const program = new Command('firsthand')
    .description('Stores browser events, links them to contacts, and answers queries about them.')
    .version(version)
    // Not --env-file: Node 20 reads that one itself, wherever it is.
    .option('--settings-file <file>', 'read settings from this file too, as NAME=value; variables that are set win')
    .exitOverride();
  for (const { name, summary } of nouns) program.command(name).description(summary);
  return program.hook('preSubcommand', async (_, command) => {
    const { settingsFile } = program.opts<{ settingsFile?: string }>();
    if (settingsFile !== undefined) await readSettingsFrom(settingsFile, command.name());
    const noun = await nouns.find(({ name }) => name === command.name())?.load();
    noun?.define(command);
  });
};

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

/** Runs one command. It writes to the standard streams of the process, and sets its exit code. */
export const runCommand = async (args: readonly string[]): Promise<void> => {
  if (isVersionAsked(args)) return printLine(version);
  try {
    // Becomes `token --help` for `help token`, for which Commander would not load the noun.
    await createProgram().parseAsync(args[0] === 'help' ? [...args.slice(1), '--help'] : withIDsLast(args), {
      from: 'user',
    });
  } catch (error) {
    // Commander has written its message itself.
    // Each line has the prefix, so that it can be found among the lines of systemd.
    if (!(error instanceof CommanderError)) printComplaint(explain(error).replace(/^/gm, 'firsthand: '));
    process.exitCode = exitCodeOf(error);
  }
};
