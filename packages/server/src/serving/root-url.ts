/** The address at which this machine reaches a server that listens on every address. */
const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The REST root of a server on this machine, without a slash at its end: `http://127.0.0.1:3000` */
export const rootURL = ({ host, port, basePath }: { host: string; port: number; basePath: string }): string => {
  const name = everywhere[host] ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}${basePath.replace(/\/$/, '')}`;
};

/** The REST root at which the console signs in, without a slash at its end: at CONSOLE_ORIGIN, or on this machine. */
export const consoleRootURL = ({
  consoleOrigin,
  ...local
}: {
  consoleOrigin: string | undefined;
  host: string;
  port: number;
  basePath: string;
}): string => (consoleOrigin === undefined ? rootURL(local) : consoleOrigin + local.basePath.replace(/\/$/, ''));
