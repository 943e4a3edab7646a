import type { AddressInfo, Server } from 'node:net';

/** The port can't be listened on. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen';
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there already; choose another PORT',
  EACCES: 'this user may not listen there; choose a PORT above 1023',
  EADDRNOTAVAIL: 'this machine has no such address; choose another HOST',
  ENOTFOUND: 'this host name is unknown; choose another HOST',
};

/** Answers the port, which is another than was asked for when that is 0. Throws CannotListen. */
export const listen = (server: Server, { host, port }: { host: string; port: number }): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const reason = reasons[String(cause.code)] ?? cause.message;
      reject(new CannotListen(`cannot listen on ${host}, port ${port}: ${reason}`, { cause }));
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve((server.address() as AddressInfo).port);
    });
  });
