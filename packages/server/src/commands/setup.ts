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
import { originAllowed, parseOrigin } from '@firsthand/contract/origins';
import { type Command, Option } from 'commander';
import { readConfig } from '../config/config.ts';
import { parseEnvironmentFile, setInEnvironmentFile } from '../config/environment-file.ts';
import { parseAddress } from '../identity/email-address.ts';
import type { AccountSummary, Store } from '../store/store.ts';
import { accountFrom, tagLines } from './account.ts';
import { WrongUsage } from './shared/command-errors.ts';
import { chosenAccount, withStore } from './shared/database.ts';
import {
  environmentTemplate,
  proxySnippets,
  type Snippet,
  toExecStart,
  unitText,
  type WebServer,
  webServers,
} from './shared/deploy-files.ts';
import { jsonFlag } from './shared/flags.ts';
import { invitationLines, inviteMember } from './shared/invitations.ts';
import { printComplaint, printJSON, printLine } from './shared/printing.ts';

const bin = fileURLToPath(new URL('../../bin/firsthand.js', import.meta.url));
const defaultFile = '/etc/firsthand.env';
const defaultUnit = '/etc/systemd/system/firsthand.service';
/** Where the Debian package has its unit. */
const packagedUnit = '/usr/lib/systemd/system/firsthand.service';
/** The first line of a unit that may be replaced. */
const ownUnit = '# Written by firsthand setup.\n';

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
    .description(
      'write the settings and the systemd unit of a service, create its first owner, and print what is left to do',
    )
    .option('--site <origin>', 'the address of your site, such as https://shop.example')
    .option('--email <address>', 'your e-mail address: you become the owner')
    .option(
      '--console-origin <origin>',
      'the address of the console, on a host that serves nothing else; none: on this machine only',
    )
    .addOption(new Option('--web-server <name>', 'the web server of the site').choices([...webServers, 'none']))
    .option('--name <name>', 'the name of the account; the host of the site if not given')
    .option('--account <accountUUID>', 'the account of the site, where there are several already')
    .option('--user <name>', 'the user that the service runs as; created unless it exists', 'firsthand')
    .option('--data <folder>', 'the folder of the data', '/var/lib/firsthand')
    .option('--unit <file>', `the systemd unit; ${defaultUnit} unless a package has brought one`)
    .option(...jsonFlag)
    .action((options: Options) =>
      setUp(options, command.parent?.opts<{ settingsFile?: string }>().settingsFile ?? defaultFile),
    );
};

const toSite = (given: string): string => {
  const text = given.trim().replace(/\/$/, '');
  const origin = parseOrigin(text.includes('://') ? text : `https://${text}`);
  if (origin?.startsWith('https://') && !origin.includes('*')) return origin;
  throw new WrongUsage(
    `--site must be the https address of a site, such as https://shop.example; not ${JSON.stringify(given)}`,
  );
};

const toAddress = (given: string): string => {
  const address = parseAddress(given);
  if (address !== undefined) return address;
  throw new WrongUsage(`--email must be an e-mail address; not ${JSON.stringify(given)}`);
};

const configurationFolders = { caddy: '/etc/caddy', nginx: '/etc/nginx', apache: '/etc/apache2' } as const;
const installedWebServer = (): WebServer =>
  webServers.find((name) => existsSync(configurationFolders[name])) ?? 'caddy';

interface Answers {
  readonly site: string;
  readonly email: string;
  /** Undefined: the console is on this machine only. */
  readonly consoleOrigin: string | undefined;
  readonly webServer: WebServer | undefined;
}

/** Takes the answers from flags, and asks for the others on a terminal. Throws WrongUsage where there is none. */
const ask = async (options: Options, present: string | undefined): Promise<Answers> => {
  const isComplete = options.site !== undefined && options.email !== undefined;
  const terminal =
    process.stdin.isTTY && process.stderr.isTTY && !isComplete
      ? createInterface({ input: process.stdin, output: process.stderr })
      : undefined;
  // The iterator stores lines that arrive before their question, as when they are pasted.
  const lines = terminal?.[Symbol.asyncIterator]();
  const question = async (given: string | undefined, text: string, fallback?: string): Promise<string> => {
    if (given !== undefined) return given;
    if (terminal && lines) {
      terminal.setPrompt(`${text}${fallback === undefined ? '' : ` [${fallback}]`}: `);
      terminal.prompt();
      const { value, done } = await lines.next();
      if (!done) return value.trim() || (fallback ?? '');
    }
    if (fallback !== undefined) return fallback;
    throw new WrongUsage('--site and --email are required where no terminal asks for them');
  };
  try {
    const site = toSite(await question(options.site, 'The address of your site, such as https://shop.example'));
    const email = toAddress(await question(options.email, 'Your e-mail address'));
    const host = new URL(site).hostname.replace(/^www\./, '');
    const consoleText = 'The address of the console, on a host of its own ("none": on this machine only)';
    const given = await question(options.consoleOrigin, consoleText, present ?? `https://firsthand.${host}`);
    const webServer = await question(
      options.webServer,
      `The web server of the site (${webServers.join(', ')}, none)`,
      installedWebServer(),
    );
    if (webServer !== 'none' && !webServers.includes(webServer as WebServer))
      throw new WrongUsage(
        `the web server must be one of ${webServers.join(', ')}, none; not ${JSON.stringify(webServer)}`,
      );
    return {
      ...{ site, email },
      consoleOrigin: given === 'none' ? undefined : given.replace(/\/$/, ''),
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

/** The user of the service, created unless it exists. Undefined unless this process may create files for another user. */
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

/** Writes a file under another name first: a reader finds the old text or the new one. */
const writeWhole = (file: string, text: string, mode: number, gid = 0): void => {
  const draft = `${file}.${process.pid}.new`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(draft, text, { mode: 0o600 });
  chmodSync(draft, mode);
  if (process.getuid?.() === 0) chownSync(draft, 0, gid);
  renameSync(draft, file);
};

const readIfThere = (file: string): string | undefined => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);

/** Returns the file of the unit; undefined where a package has brought one. */
const writeUnit = ({ unit, user, data }: Options, file: string): string | undefined => {
  if (unit === undefined && existsSync(packagedUnit)) return undefined;
  const target = unit ?? defaultUnit;
  const before = readIfThere(target);
  if (before !== undefined && !before.startsWith(ownUnit))
    throw new Error(`${target} was not written by firsthand setup, and is not replaced: move it away, or give --unit`);
  const hidden = [process.execPath, bin].find((path) => /^\/(?:root|home)\//.test(path));
  if (hidden !== undefined)
    throw new Error(
      `${hidden} is in a home folder, which the unit hides from the service: install Node and Firsthand below /usr`,
    );
  const execStart = toExecStart([process.execPath, bin, '--settings-file', file, 'serve']);
  writeWhole(target, unitText({ execStart, user, dataFolder: data }), 0o644);
  return target;
};

/** The settings of the service: the present file or the template, with what setup knows. */
const environmentText = (present: string | undefined, { data }: Options, { consoleOrigin }: Answers): string => {
  const text = present ?? environmentTemplate();
  const places = {
    DATABASE_URL: `sqlite:${data}/firsthand.db`,
    BACKUP_DIR: `${data}/backups`,
  };
  return setInEnvironmentFile(text, {
    ...(present === undefined && places),
    // An empty variable counts as absent.
    ...((consoleOrigin !== undefined || /^CONSOLE_ORIGIN=/m.test(text)) && { CONSOLE_ORIGIN: consoleOrigin ?? '' }),
  });
};

const isEmpty = async (store: Store): Promise<boolean> => (await store.listAccounts()).length === 0;

/** Throws WrongUsage unless the account takes events from the pages of `site`. */
const refuseOtherSite = async (store: Store, { account }: AccountSummary, site: string): Promise<void> => {
  const { accountName, accountOrigin } = await store.getAccount(account);
  if (originAllowed(accountOrigin, site)) return;
  throw new WrongUsage(
    `--site is ${site}, but the account ${accountName} is for ${accountOrigin.join(', ')}. Nothing was changed. ` +
      'To add the site to this account, or to replace its address: the console, Set up, Sites. ' +
      `For an account of its own: firsthand account create --name <name> --origin ${site}, then setup with --account <accountUUID>`,
  );
};

/** The host without its port and `www.`, under which the site may answer too. */
const bareHost = (origin: string): string => new URL(origin).hostname.replace(/^www\./, '');

const setUp = async (options: Options, givenFile: string): Promise<void> => {
  const file = resolve(givenFile);
  const present = readIfThere(file);
  const presentSettings = present === undefined ? {} : parseEnvironmentFile(present, file);
  const answers = await ask(options, presentSettings.CONSOLE_ORIGIN);
  const { site, email, consoleOrigin, webServer } = answers;
  if (consoleOrigin !== undefined && URL.canParse(consoleOrigin) && bareHost(consoleOrigin) === bareHost(site)) {
    throw new WrongUsage(
      `--console-origin must be on a host that serves nothing else, such as https://firsthand.${bareHost(site)}, and not on the site's host`,
    );
  }
  const text = environmentText(present, options, answers);
  const variables = parseEnvironmentFile(text, file);
  // Throws before anything is written.
  const { databaseURL, host, basePath, port, trackerPath, apiPrefix } = readConfig(variables);
  const createAccount = await accountFrom({ name: options.name ?? new URL(site).host, origin: [site] });
  if (basePath === '/')
    throw new WrongUsage(`BASE_PATH in ${file} must be a path of the site that its web server passes on, such as /s/`);

  const user = ensureUser(options);
  mkdirSync(options.data, { recursive: true, mode: 0o700 });
  if (user && statSync(options.data).uid === 0) chownSync(options.data, user.uid, user.gid);
  const ofService = {
    ...{ databaseUrl: databaseURL, consoleOrigin, host, port: String(port), basePath, trackerPath, apiPrefix },
    ...(options.account !== undefined && { account: options.account }),
  };
  const { unit, created, invitation } = await withStore(
    ofService,
    async (store) => {
      const account = (await isEmpty(store)) ? undefined : await chosenAccount(store, ofService);
      if (account !== undefined) await refuseOtherSite(store, account, site);
      if (text !== present) writeWhole(file, text, 0o640, user?.gid);
      const unit = writeUnit(options, file);
      const created = account === undefined ? await createAccount(store) : undefined;
      const { accountUUID } = created ?? (account as AccountSummary);
      const owner = { emailaddress: email, role: 'owner' } as const;
      const address = { consoleOrigin, host, port, basePath };
      return { unit, created, invitation: await inviteMember(store, { accountUUID }, owner, address) };
    },
    { create: true },
  );
  const snippets = webServer === undefined ? [] : proxySnippets(webServer, { site, consoleOrigin, port, basePath });
  if (options.json) {
    const { memberID, invitationCode, invitationURL, expiresTime } = invitation;
    return printJSON({
      ...{ environmentFile: file, unit, ...created, memberID, invitationCode, invitationURL, expiresTime },
      ...{ proxy: snippets, status: '200' },
    });
  }
  const written = [...(text === present ? [] : [file]), ...(unit === undefined ? [] : [unit])];
  printComplaint(written.length > 0 ? `Wrote ${written.join(' and ')}` : `${file} is as it was`);
  printLine([
    ...steps('1. Start the service', [
      'systemctl daemon-reload',
      'systemctl enable firsthand',
      'systemctl restart firsthand',
    ]),
    ...proxyLines(snippets, webServer, consoleOrigin, basePath),
    ...signInLines(email, invitation, { consoleOrigin, port, basePath }),
    ...(created === undefined
      ? []
      : [
          '',
          '4. Log events. This server token is secret, and shown this once:',
          '',
          `    ${created.serverTokenUUID}`,
          ...tagLines({ name: '', origin: [site], ...ofService }, created.browserTokenUUID),
        ]),
    ...(unit === undefined
      ? []
      : [
          '',
          'Commands take the settings and the user of the service like this:',
          '',
          `    ${commandLine(options, file)}`,
        ]),
  ]);
};

/** How to run a command where no package has brought `/usr/bin/firsthand`. */
const commandLine = ({ user }: Options, file: string): string =>
  `runuser -u ${user} -- ${process.execPath} ${bin} --settings-file ${file} doctor`;

const steps = (title: string, lines: readonly string[]): string[] => [
  `${title}:`,
  '',
  ...lines.map((line) => `    ${line}`),
];

const proxyLines = (
  snippets: readonly Snippet[],
  webServer: WebServer | undefined,
  consoleOrigin: string | undefined,
  basePath: string,
): string[] => {
  if (webServer === undefined) return ['', `2. Pass the path on: ${basePath}docs/own-domain of the server shows how`];
  const dns =
    consoleOrigin === undefined
      ? []
      : [`   ${new URL(consoleOrigin).host} needs a DNS record that leads to this machine.`];
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

const signInLines = (
  email: string,
  invitation: { readonly invitationURL: string; readonly expiresTime: string },
  { consoleOrigin, port }: { consoleOrigin: string | undefined; port: number; basePath: string },
): string[] => {
  const tunnel =
    consoleOrigin === undefined
      ? ['', `From another machine, open a tunnel first: ssh -L ${port}:127.0.0.1:${port} <this machine>`]
      : [];
  return ['', '3. Sign in to the console.', ...invitationLines(email, invitation), ...tunnel];
};
