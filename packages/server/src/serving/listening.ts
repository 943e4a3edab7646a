import { type AddressInfo, createServer, type Server } from 'node:net';
import type { Logger } from 'pino';

/** The port can't be listened on. */
class CannotListen extends Error {
  override readonly name = 'CannotListen';
}

type PortSetting = 'PORT' | 'METRICS_PORT';

const reasonsOf = (setting: PortSetting): Readonly<Record<string, string>> => ({
  EADDRINUSE: `another program listens there already; choose another ${setting}`,
  EACCES: `this user may not listen there; choose a ${setting} above 1023`,
  EADDRNOTAVAIL: 'this machine has no such address; choose another HOST',
  ENOTFOUND: 'this host name is unknown; choose another HOST',
});

interface Place {
  readonly host: string;
  readonly port: number;
  /** The setting that the port is from; PORT if absent. */
  readonly setting?: PortSetting;
  readonly log: Logger;
}

/** Errors of accepting a connection are logged once in this time. Without free descriptors, each turn of the event loop has one. */
const logAgainMs = 60_000;

/**
 * Returns the port, which differs from the given one if that is 0. Throws CannotListen, which names the setting. Later errors concern
 * accepting a connection, such as EMFILE. They are logged, and the server goes on.
 */
export const listen = (server: Server, { host, port, setting = 'PORT', log }: Place): Promise<number> =>
  new Promise((resolve, reject) => {
    let loggedAt = -logAgainMs;
    const logError = (error: Error) => {
      if (performance.now() - loggedAt < logAgainMs) return;
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

/** Throws CannotListen if `listen` would. Call it before a start changes anything. */
export const tryListening = async (where: Place): Promise<void> => {
  if (where.port === 0) return;
  const server = createServer();
  await listen(server, where);
  await new Promise((resolve) => server.close(resolve));
};
