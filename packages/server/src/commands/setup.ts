import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { isOriginAllowed, parseOrigin } from '@firsthand/contract/origins';
import { type Command, Option } from 'commander';
import { readConfig } from '../config/config.ts';
import { parseEnvironmentFile, setInEnvironmentFile } from '../config/environment-file.ts';
import { parseAddress } from '../identity/email-address.ts';
import type { AccountSummary, Store } from '../store/store.ts';
import { formatScriptTag, prepareAccount } from './account.ts';
import { UsageError } from './shared/command-errors.ts';
import { chooseAccount, withStore } from './shared/database.ts';
import {
  createSnippets,
  createUnitText,
  readEnvironmentTemplate,
  type Snippet,
  toExecStart,
  type WebServer,
  webServers,
} from './shared/deploy-files.ts';
import { jsonFlag } from './shared/flags.ts';
import { formatInvitation, inviteMember } from './shared/invitations.ts';
import { printError, printJSON, printLine } from './shared/printing.ts';

const bin = fileURLToPath(new URL('../../bin/firsthand.js', import.meta.url));
const defaultFile = '/etc/firsthand.env';
const defaultUnit = '/etc/systemd/system/firsthand.service';
/** The Debian package's unit. */
const packagedUnit = '/usr/lib/systemd/system/firsthand.service';
/** The first line of a unit that `firsthand setup` is allowed to replace. */
const unitHeader = '# Written by firsthand setup.\n';

interface Options {
  readonly site?: string;
  readonly email?: string;
  readonly consoleOrigin?: string;
  readonly webServer?: WebServer | 'none';
  readonly name?: string;
  readonly account?: string;
  readonly user: string;
  readonly data: string;
  readonly unit?: string;
  readonly json?: boolean;
}

export const define = (command: Command): void => {
  command
    .description("write a service's settings and systemd unit, create its first owner, and print the remaining steps")
    .option('--site <origin>', 'the address of your site, such as https://shop.example')
    .option('--email <address>', 'your e-mail address; you become the owner')
    .option('--console-origin <origin>', "the console's address, on a dedicated host; none: only on this machine")
    .addOption(new Option('--web-server <name>', "the site's web server").choices([...webServers, 'none']))
    .option('--name <name>', "the account's name; by default, the site's host")
    .option('--account <accountUUID>', "the site's account; required if there are several")
    .option('--user <name>', 'the user that the service runs as; created if it does not exist', 'firsthand')
    .option('--data <folder>', 'the data folder', '/var/lib/firsthand')
    .option('--unit <file>', `the systemd unit's file; ${defaultUnit} by default, unless a package installed one`)
    .option(...jsonFlag)
    .action((options: Options) =>
      setUp(options, command.parent?.opts<{ settingsFile?: string }>().settingsFile ?? defaultFile),
    );
};

const toSite = (input: string): string => {
  const text = input.trim().replace(/\/$/, '');
  const origin = parseOrigin(text.includes('://') ? text : `https://${text}`);
  if (origin?.startsWith('https://') && !origin.includes('*')) return origin;
  throw new UsageError(
    `--site must be the https address of a site, such as https://shop.example; not ${JSON.stringify(input)}`,
  );
};

const toAddress = (input: string): string => {
  const address = parseAddress(input);
  if (address !== undefined) return address;
  throw new UsageError(`--email must be an e-mail address; not ${JSON.stringify(input)}`);
};

const configurationFolders = { caddy: '/etc/caddy', nginx: '/etc/nginx', apache: '/etc/apache2' } as const;
const findInstalledWebServer = (): WebServer =>
  webServers.find((name) => existsSync(configurationFolders[name])) ?? 'caddy';

interface Answers {
  readonly site: string;
  readonly email: string;
  /** Undefined if the console is to be reachable only from this machine. */
  readonly consoleOrigin: string | undefined;
  readonly webServer: WebServer | undefined;
}

/** Takes the values from flags and prompts for the rest. Throws UsageError without a terminal. */
const ask = async (options: Options, currentConsoleOrigin: string | undefined): Promise<Answers> => {
  const isComplete = options.site !== undefined && options.email !== undefined;
  const terminal =
    process.stdin.isTTY && process.stderr.isTTY && !isComplete
      ? createInterface({ input: process.stdin, output: process.stderr })
      : undefined;
  // The iterator buffers lines that arrive before their prompt, such as pasted lines.
  const lines = terminal?.[Symbol.asyncIterator]();
  const question = async (flag: string | undefined, text: string, fallback?: string): Promise<string> => {
    if (flag !== undefined) return flag;
    if (terminal && lines) {
      terminal.setPrompt(`${text}${fallback === undefined ? '' : ` [${fallback}]`}: `);
      terminal.prompt();
      const { value, done } = await lines.next();
      if (!done) return value.trim() || (fallback ?? '');
    }
    if (fallback !== undefined) return fallback;
    throw new UsageError('--site and --email are required without a terminal');
  };
  try {
    const site = toSite(await question(options.site, 'The address of your site, such as https://shop.example'));
    const email = toAddress(await question(options.email, 'Your e-mail address'));
    const host = new URL(site).hostname.replace(/^www\./, '');
    const consoleText = 'The address of the console, on a dedicated host ("none": only on this machine)';
    const consoleOrigin = await question(
      options.consoleOrigin,
      consoleText,
      currentConsoleOrigin ?? `https://firsthand.${host}`,
    );
    const webServer = await question(
      options.webServer,
      `The web server of the site (${webServers.join(', ')}, none)`,
      findInstalledWebServer(),
    );
    if (webServer !== 'none' && !webServers.includes(webServer as WebServer))
      throw new UsageError(
        `the web server must be one of ${webServers.join(', ')}, none; not ${JSON.stringify(webServer)}`,
      );
    return {
      ...{ site, email },
      consoleOrigin: consoleOrigin === 'none' ? undefined : consoleOrigin.replace(/\/$/, ''),
      webServer: webServer === 'none' ? undefined : (webServer as WebServer),
    };
  } finally {
    terminal?.close();
  }
};

interface User {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Returns the service's user, created if missing. Undefined unless this process runs as root, because only root can
 * chown files.
 */
const ensureUser = ({ user, data }: Options): User | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string) => Number(execFileSync('id', [flag, user], { stdio: ['ignore', 'pipe', 'ignore'] }));
  try {
    idOf('-u');
  } catch {
    execFileSync('useradd', ['--system', '--user-group', '--home-dir', data, '--shell', '/usr/sbin/nologin', user]);
  }
  return { uid: idOf('-u'), gid: idOf('-g') };
};

/** Writes to a temporary file and renames it, so that a reader sees either the old text or the new one. */
const writeAtomically = (file: string, text: string, mode: number, gid = 0): void => {
  const draft = `${file}.${process.pid}.new`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(draft, text, { mode: 0o600 });
  chmodSync(draft, mode);
  if (process.getuid?.() === 0) chownSync(draft, 0, gid);
  renameSync(draft, file);
};

const readIfExists = (file: string): string | undefined => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);

/** Returns the unit file; undefined if a package installed one. */
const writeUnit = ({ unit, user, data }: Options, file: string): string | undefined => {
  if (unit === undefined && existsSync(packagedUnit)) return undefined;
  const target = unit ?? defaultUnit;
  const current = readIfExists(target);
  if (current !== undefined && !current.startsWith(unitHeader))
    throw new Error(`${target} was not written by firsthand setup, so it is not replaced: move it, or use --unit`);
  const hidden = [process.execPath, bin].find((path) => /^\/(?:root|home)\//.test(path));
  if (hidden !== undefined)
    throw new Error(
      `${hidden} is in a home folder, which the unit hides from the service: install Node and Firsthand under /usr`,
    );
  const execStart = toExecStart([process.execPath, bin, '--settings-file', file, 'serve']);
  writeAtomically(target, createUnitText({ execStart, user, dataFolder: data }), 0o644);
  return target;
};

/** The service's settings: the current file or the template, with the entered values filled in. */
const createEnvironmentText = (current: string | undefined, { data }: Options, { consoleOrigin }: Answers): string => {
  const text = current ?? readEnvironmentTemplate();
  const paths = {
    DATABASE_URL: `sqlite:${data}/firsthand.db`,
    BACKUP_DIR: `${data}/backups`,
  };
  return setInEnvironmentFile(text, {
    ...(current === undefined && paths),
    // An empty variable counts as unset.
    ...((consoleOrigin !== undefined || /^CONSOLE_ORIGIN=/m.test(text)) && { CONSOLE_ORIGIN: consoleOrigin ?? '' }),
  });
};

const isEmpty = async (store: Store): Promise<boolean> => (await store.listAccounts()).length === 0;

/** Throws UsageError unless the account accepts events from pages on `site`. */
const checkSite = async (store: Store, { account }: AccountSummary, site: string): Promise<void> => {
  const { accountName, accountOrigin } = await store.getAccount(account);
  if (isOriginAllowed(accountOrigin, site)) return;
  throw new UsageError(
    `--site is ${site}, but the account ${accountName} is for ${accountOrigin.join(', ')}. Nothing was changed. ` +
      'To add the site to this account, or to replace its address, use the console: Set up, Sites. ' +
      `To give it a separate account, run firsthand account create --name <name> --origin ${site}, then setup with --account <accountUUID>`,
  );
};

/** The host without its port and `www.`; a site is usually reachable with and without `www.`. */
const toBareHost = (origin: string): string => new URL(origin).hostname.replace(/^www\./, '');

const setUp = async (options: Options, settingsFile: string): Promise<void> => {
  const file = resolve(settingsFile);
  const currentText = readIfExists(file);
  const currentSettings = currentText === undefined ? {} : parseEnvironmentFile(currentText, file);
  const answers = await ask(options, currentSettings.CONSOLE_ORIGIN);
  const { site, email, consoleOrigin, webServer } = answers;
  if (consoleOrigin !== undefined && URL.canParse(consoleOrigin) && toBareHost(consoleOrigin) === toBareHost(site)) {
    throw new UsageError(
      `--console-origin must be on a dedicated host, such as https://firsthand.${toBareHost(site)}, and not on the site's host`,
    );
  }
  const text = createEnvironmentText(currentText, options, answers);
  const variables = parseEnvironmentFile(text, file);
  // Throws before anything is written.
  const { databaseURL, host, basePath, port, trackerPath, apiPrefix } = readConfig(variables);
  const createAccount = await prepareAccount({ name: options.name ?? new URL(site).host, origin: [site] });
  if (basePath === '/')
    throw new UsageError(`BASE_PATH in ${file} must be a path that the site's web server forwards, such as /s/`);

  const user = ensureUser(options);
  mkdirSync(options.data, { recursive: true, mode: 0o700 });
  if (user && statSync(options.data).uid === 0) chownSync(options.data, user.uid, user.gid);
  const serviceOptions = {
    ...{ databaseUrl: databaseURL, consoleOrigin, host, port: String(port), basePath, trackerPath, apiPrefix },
    ...(options.account !== undefined && { account: options.account }),
  };
  const { unit, created, invitation } = await withStore(
    serviceOptions,
    async (store) => {
      const account = (await isEmpty(store)) ? undefined : await chooseAccount(store, serviceOptions);
      if (account !== undefined) await checkSite(store, account, site);
      if (text !== currentText) writeAtomically(file, text, 0o640, user?.gid);
      const unit = writeUnit(options, file);
      const created = account === undefined ? await createAccount(store) : undefined;
      const { accountUUID } = created ?? (account as AccountSummary);
      const owner = { emailaddress: email, role: 'owner' } as const;
      const address = { consoleOrigin, host, port, basePath };
      return { unit, created, invitation: await inviteMember(store, { accountUUID }, owner, address) };
    },
    { create: true },
  );
  const snippets = webServer === undefined ? [] : createSnippets(webServer, { site, consoleOrigin, port, basePath });
  if (options.json) {
    const { memberID, invitationCode, invitationURL, expiresTime } = invitation;
    return printJSON({
      ...{ environmentFile: file, unit, ...created, memberID, invitationCode, invitationURL, expiresTime },
      ...{ proxy: snippets, status: '200' },
    });
  }
  const changedFiles = [...(text === currentText ? [] : [file]), ...(unit === undefined ? [] : [unit])];
  printError(changedFiles.length > 0 ? `Wrote ${changedFiles.join(' and ')}` : `${file} is unchanged`);
  printLine([
    ...formatSteps('1. Start the service', [
      'systemctl daemon-reload',
      'systemctl enable firsthand',
      'systemctl restart firsthand',
    ]),
    ...formatProxySteps(snippets, webServer, consoleOrigin, basePath),
    ...formatSignInSteps(email, invitation, { consoleOrigin, port, basePath }),
    ...(created === undefined
      ? []
      : [
          '',
          '4. Log events. This server token is secret, and shown only once:',
          '',
          `    ${created.serverTokenUUID}`,
          ...formatScriptTag({ name: '', origin: [site], ...serviceOptions }, created.browserTokenUUID),
        ]),
    ...(unit === undefined
      ? []
      : ['', "To run a command with the service's settings and user:", '', `    ${formatCommand(options, file)}`]),
  ]);
};

/** How to run a command if no package installed `/usr/bin/firsthand`. */
const formatCommand = ({ user }: Options, file: string): string =>
  `runuser -u ${user} -- ${process.execPath} ${bin} --settings-file ${file} doctor`;

const formatSteps = (title: string, lines: readonly string[]): string[] => [
  `${title}:`,
  '',
  ...lines.map((line) => `    ${line}`),
];

const formatProxySteps = (
  snippets: readonly Snippet[],
  webServer: WebServer | undefined,
  consoleOrigin: string | undefined,
  basePath: string,
): string[] => {
  if (webServer === undefined) return ['', `2. Forward the path: ${basePath}docs/own-domain of the server shows how`];
  const dns =
    consoleOrigin === undefined
      ? []
      : [`   ${new URL(consoleOrigin).host} needs a DNS record that points to this machine.`];
  return [
    '',
    `2. Add these lines to the configuration of ${webServer}, and reload it:`,
    ...dns,
    ...snippets.flatMap(({ place, text }) => [
      '',
      `${place}:`,
      '',
      ...text.split('\n').map((line) => line.replaceAll('\t', '    ')),
    ]),
  ];
};

const formatSignInSteps = (
  email: string,
  invitation: { readonly invitationURL: string; readonly expiresTime: string },
  { consoleOrigin, port }: { consoleOrigin: string | undefined; port: number; basePath: string },
): string[] => {
  const tunnel =
    consoleOrigin === undefined
      ? ['', `From another machine, open a tunnel first: ssh -L ${port}:127.0.0.1:${port} <this machine>`]
      : [];
  return ['', '3. Sign in to the console.', ...formatInvitation(email, invitation), ...tunnel];
};
