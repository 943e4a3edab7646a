/** Adapts the files of deploy/ to a site: the systemd unit, the environment file and the web server’s configuration. */
import { readFileSync } from 'node:fs';
import { parseOrigin } from '@firsthand/contract/origins';

/** The deploy folder is in both the repository and the npm package. */
const readDeployFile = (name: string): string =>
  readFileSync(new URL(`../../../deploy/${name}`, import.meta.url), 'utf8');

export const readEnvironmentTemplate = (): string => readDeployFile('firsthand.env');

interface UnitOptions {
  /** The command that starts the server. */
  readonly execStart: string;
  readonly user: string;
  readonly dataFolder: string;
}

/** Characters that systemd parses as separators, quotes, specifiers or variables. */
const unsafe = /[\s"'\\%$;]/;

/** Throws for a path with characters that are special in a unit. */
const checkPath = (path: string): string => {
  if (!unsafe.test(path)) return path;
  throw new Error(`${path} contains a character that has a special meaning in systemd units: choose another path`);
};

export const createUnitText = ({ execStart, user, dataFolder }: UnitOptions): string => {
  const name = dataFolder.split('/').at(-1) as string;
  const isState = dataFolder === `/var/lib/${name}`;
  const lines: Readonly<Record<string, string>> = {
    ExecStart: `ExecStart=${execStart}`,
    User: `User=${user}`,
    WorkingDirectory: `WorkingDirectory=${checkPath(dataFolder)}`,
    StateDirectory: isState ? `StateDirectory=${name}` : `ReadWritePaths=${dataFolder}`,
  };
  return (
    readDeployFile('firsthand.service')
      .replace(/^# The unit of the Debian package.*\n/, '# Written by firsthand setup.\n')
      // The user's own group is the default.
      .replace(/^Group=.*\n/m, '')
      .replace(/^(\w+)=.*$/gm, (line, name: string) => lines[name] ?? line)
  );
};

/** Joins a command line for a unit. Throws for words with special characters. */
export const toExecStart = (words: readonly string[]): string => words.map(checkPath).join(' ');

export const webServers = ['caddy', 'nginx', 'apache'] as const;
export type WebServer = (typeof webServers)[number];
const exampleFiles = { caddy: 'Caddyfile', nginx: 'nginx.conf', apache: 'apache.conf' } as const;

interface ProxyOptions {
  readonly site: string;
  readonly consoleOrigin: string | undefined;
  readonly port: number;
  /** With leading and trailing slashes. */
  readonly basePath: string;
}

/** Lines for a web server's configuration, and where to add them. */
export interface Snippet {
  readonly place: string;
  readonly text: string;
}

/** The example's block that forwards the path, with its comments. */
const pathBlock = /^([ \t]*)(?:location \/s\/|handle \/s\/\*|<Location \/s\/>)[\s\S]*?^\1(?:\}|<\/Location>)$/m;
const upstreamBlock = /^upstream [\s\S]*?^\}$/m;
const consolePart = /^# The console[\s\S]*/m;

/** The configuration that makes a web server forward the site's path and serve the console. */
export const createSnippets = (
  webServer: WebServer,
  { site, consoleOrigin, port, basePath }: ProxyOptions,
): readonly Snippet[] => {
  const example = readDeployFile(exampleFiles[webServer]);
  const host = new URL(parseOrigin(site) ?? site).host;
  const adapt = (text: string): string => {
    const console = consoleOrigin === undefined ? '' : new URL(consoleOrigin).host;
    const hosts: Readonly<Record<string, string>> = { 'firsthand.shop.example': console, 'shop.example': host };
    return text
      .trimEnd()
      .replace(/(?:firsthand\.)?shop\.example/g, (name) => hosts[name] as string)
      .replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)
      .replaceAll('/s/', basePath);
  };
  const find = (pattern: RegExp): string => pattern.exec(example)?.[0] ?? '';
  const snippets = [
    { place: 'Before the server blocks', text: find(upstreamBlock) },
    { place: `In the block for ${host}`, text: find(pathBlock) },
    { place: 'After that block', text: consoleOrigin === undefined ? '' : find(consolePart) },
  ];
  return snippets.filter(({ text }) => text !== '').map(({ place, text }) => ({ place, text: adapt(text) }));
};
