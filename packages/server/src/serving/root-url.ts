/** The local addresses of a server that listens on all interfaces. */
const loopbackAddresses: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The REST root of a server on this machine, without a trailing slash: `http://127.0.0.1:3000` */
export const rootURL = ({ host, port, basePath }: { host: string; port: number; basePath: string }): string => {
  const name = loopbackAddresses[host] ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}${basePath.replace(/\/$/, '')}`;
};

/** The REST root of the console, at CONSOLE_ORIGIN or on this machine, without a trailing slash. */
export const consoleRootURL = ({
  consoleOrigin,
  ...local
}: {
  consoleOrigin: string | undefined;
  host: string;
  port: number;
  basePath: string;
}): string => (consoleOrigin === undefined ? rootURL(local) : consoleOrigin + local.basePath.replace(/\/$/, ''));
