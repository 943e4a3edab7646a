/**
 * The `firsthand` program. A command's file, such as `token`, is loaded on first use, so `firsthand --help` loads none
 * of them.
 */
import { Command, CommanderError } from 'commander';
import { version } from '../shared/version.ts';
import { explain, toExitCode } from './shared/command-errors.ts';
import { printError, printLine } from './shared/printing.ts';

const nouns = [
  {
    name: 'setup',
    summary: 'configure the service and create its first owner',
    load: () => import('./setup.ts'),
  },
  { name: 'serve', summary: 'run the server', load: () => import('./serve.ts') },
  { name: 'account', summary: 'create and list accounts', load: () => import('./account.ts') },
  { name: 'demo-data', summary: 'create an account with sample data', load: () => import('./demo-data.ts') },
  { name: 'token', summary: 'create, list and revoke tokens', load: () => import('./token.ts') },
  {
    name: 'user',
    summary: 'invite and list people who sign in to the console',
    load: () => import('./user.ts'),
  },
  {
    name: 'login-link',
    summary: 'print a link that signs an owner in to the console',
    load: () => import('./login-link.ts'),
  },
  { name: 'audit', summary: 'list the audit log', load: () => import('./audit.ts') },
  { name: 'event', summary: 'log and list events on a running server', load: () => import('./event.ts') },
  { name: 'report', summary: 'run reports about what people did', load: () => import('./report.ts') },
  {
    name: 'contact',
    summary: 'show, export and import contacts on a running server',
    load: () => import('./contact.ts'),
  },
  {
    name: 'refused',
    summary: 'list refused requests and resend them',
    load: () => import('./refused.ts'),
  },
  {
    name: 'import',
    summary: "import other tools' files of events, and undo imports",
    load: () => import('./import.ts'),
  },
  {
    name: 'webhook',
    summary: 'list webhooks and their messages, and send them again',
    load: () => import('./webhook.ts'),
  },
  { name: 'export', summary: 'export events to Parquet files', load: () => import('./export.ts') },
  { name: 'copy', summary: 'copy the database to PostgreSQL, or back', load: () => import('./copy.ts') },
  {
    name: 'migrate',
    summary: 'update the schema of a PostgreSQL database',
    load: () => import('./migrate.ts'),
  },
  { name: 'backup', summary: 'back up the database', load: () => import('./backup.ts') },
  {
    name: 'restore',
    summary: 'replace the database with a backup',
    load: () => import('./restore.ts'),
  },
  { name: 'doctor', summary: 'check the database and the settings', load: () => import('./doctor.ts') },
];

/**
 * Sets the variables from an environment file unless they are already set. The file is optional for `firsthand setup`.
 */
const readSettingsFrom = async (file: string, noun: string): Promise<void> => {
  const { readEnvironmentFile } = await import('../config/environment-file.ts');
  const variables = readEnvironmentFile(file, { optional: noun === 'setup' });
  for (const [name, value] of Object.entries(variables)) process.env[name] ||= value;
};

const createProgram = (): Command => {
  const program = new Command('firsthand')
    .description('Stores browser events, links them to contacts, and answers queries about them.')
    .version(version)
    // Not --env-file: Node 20 handles that flag itself, in any position.
    .option(
      '--settings-file <file>',
      'also read settings from this file, as NAME=value; environment variables take precedence',
    )
    .exitOverride();
  for (const { name, summary } of nouns) program.command(name).description(summary);
  return program.hook('preSubcommand', async (_, command) => {
    const { settingsFile } = program.opts<{ settingsFile?: string }>();
    if (settingsFile !== undefined) await readSettingsFrom(settingsFile, command.name());
    const noun = await nouns.find(({ name }) => name === command.name())?.load();
    noun?.define(command);
  });
};

/** Checked before Commander, which would load the command's file first. */
const wantsVersion = (args: readonly string[]): boolean => args.includes('--version') || args.includes('-V');

/** The options of commands with an ID argument that take no value. */
const flags = ['--descendants', '--failed', '--json'];

/**
 * Moves IDs behind `--`: a nanoid can begin with a hyphen, which Commander would parse as an option. Option values stay
 * in place.
 */
const withIDsLast = (args: readonly string[]): readonly string[] => {
  const isValue = (before = ''): boolean => before.startsWith('--') && !flags.includes(before);
  const isID = (arg: string, index: number): boolean => /^-\w[\w-]{19}$/.test(arg) && !isValue(args[index - 1]);
  const ids = args.filter(isID);
  if (ids.length === 0 || args.includes('--')) return args;
  return [...args.filter((arg, index) => !isID(arg, index)), '--', ...ids];
};

/** Runs one command. Writes to stdout and stderr, and sets the process's exit code. */
export const runCommand = async (args: readonly string[]): Promise<void> => {
  if (wantsVersion(args)) return printLine(version);
  try {
    // Turns `help token` into `token --help`, because Commander would not load the command.
    await createProgram().parseAsync(args[0] === 'help' ? [...args.slice(1), '--help'] : withIDsLast(args), {
      from: 'user',
    });
  } catch (error) {
    // Commander prints its own messages. The prefix on each line distinguishes it from systemd's lines in the journal.
    if (!(error instanceof CommanderError)) printError(explain(error).replace(/^/gm, 'firsthand: '));
    process.exitCode = toExitCode(error);
  }
};
