/** The files of deploy/, adapted to one site: the systemd unit, the environment file, and the lines for the site's web server. */
import { readFileSync } from 'node:fs';
import { parseOrigin } from '@firsthand/contract/origins';

/** In the repository and in the npm package. */
const readDeployFile = (name: string): string =>
  readFileSync(new URL(`../../../deploy/${name}`, import.meta.url), 'utf8');

export const environmentTemplate = (): string => readDeployFile('firsthand.env');

interface UnitOptions {
  /** The command that serves. */
  readonly execStart: string;
  readonly user: string;
  readonly dataFolder: string;
}

/** Characters that systemd would read as a separator, a quote, a specifier or a variable. */
const unsafe = /[\s"'\\%$;]/;

/** Throws for a path that the unit can't hold. */
const checkPath = (path: string): string => {
  if (!unsafe.test(path)) return path;
  throw new Error(`${path} has a character that means something else in a systemd unit: choose another path`);
};

/** The text of the systemd unit. */
export const unitText = ({ execStart, user, dataFolder }: UnitOptions): string => {
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

/** A command line for a unit. Throws for a word that the unit can't hold. */
export const toExecStart = (words: readonly string[]): string => words.map(checkPath).join(' ');

export const webServers = ['caddy', 'nginx', 'apache'] as const;
export type WebServer = (typeof webServers)[number];
const exampleFiles = { caddy: 'Caddyfile', nginx: 'nginx.conf', apache: 'apache.conf' } as const;

interface ProxyOptions {
  readonly site: string;
  readonly consoleOrigin: string | undefined;
  readonly port: number;
  /** With slashes at both ends. */
  readonly basePath: string;
}

/** Lines for the configuration of a web server, and where they belong. */
export interface Snippet {
  readonly place: string;
  readonly text: string;
}

/** The block of the example that passes the path on, its comments included. */
const pathBlock = /^([ \t]*)(?:location \/s\/|handle \/s\/\*|<Location \/s\/>)[\s\S]*?^\1(?:\}|<\/Location>)$/m;
const upstreamBlock = /^upstream [\s\S]*?^\}$/m;
const consolePart = /^# The console[\s\S]*/m;

/** The lines with which a web server passes a site's path on, and serves the console. */
export const proxySnippets = (
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
    { place: `In the block of ${host}`, text: find(pathBlock) },
    { place: 'After it', text: consoleOrigin === undefined ? '' : find(consolePart) },
  ];
  return snippets.filter(({ text }) => text !== '').map(({ place, text }) => ({ place, text: adapt(text) }));
};
