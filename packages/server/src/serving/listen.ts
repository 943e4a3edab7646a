import { type AddressInfo, createServer, type Server } from 'node:net';
import type { Logger } from 'pino';

/** The server can't listen on its address. */
class CannotListen extends Error {
  override readonly name = 'CannotListen';
}

type PortSetting = 'PORT' | 'METRICS_PORT';

const reasonsOf = (setting: PortSetting): Readonly<Record<string, string>> => ({
  EADDRINUSE: `another program is already listening there; choose another ${setting}`,
  EACCES: `this user may not use that port; choose a ${setting} above 1023`,
  EADDRNOTAVAIL: 'this machine does not have that address; choose another HOST',
  ENOTFOUND: 'this host name is unknown; choose another HOST',
});

interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** The setting that the port comes from; PORT by default. */
  readonly setting?: PortSetting;
  readonly log: Logger;
}

/**
 * Minimum time between log lines for accept errors. Without free file descriptors, every event-loop turn has an error.
 */
const logIntervalMs = 60_000;

/**
 * Returns the actual port, which differs from `port` if that is 0. Throws CannotListen, whose message names the
 * setting. Later errors, such as EMFILE while accepting a connection, are only logged.
 */
export const listen = (server: Server, { host, port, setting = 'PORT', log }: ListenOptions): Promise<number> =>
  new Promise((resolve, reject) => {
    let loggedAt = -logIntervalMs;
    const logError = (error: Error) => {
      if (performance.now() - loggedAt < logIntervalMs) return;
      loggedAt = performance.now();
      log.error({ err: error }, 'a connection could not be accepted');
    };
    const fail = (cause: NodeJS.ErrnoException) => {
      const reason = reasonsOf(setting)[String(cause.code)] ?? cause.message;
      reject(new CannotListen(`cannot listen on ${host}, port ${port}: ${reason}`, { cause }));
    };
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      server.on('error', logError);
      resolve((server.address() as AddressInfo).port);
    });
  });

/** Throws CannotListen if `listen` would. Call it before startup changes anything. */
export const checkListen = async (options: ListenOptions): Promise<void> => {
  if (options.port === 0) return;
  const server = createServer();
  await listen(server, options);
  await new Promise((resolve) => server.close(resolve));
};
