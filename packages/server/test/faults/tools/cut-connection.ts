/** A proxy that cuts connections after so many bytes of the request or of the response. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Cut {
  readonly of: 'request' | 'response';
  /** How many bytes still get through. */
  readonly after: number;
}

interface CuttingProxy {
  readonly url: string;
  /** How the connections are cut that are made from now on; null: not at all. */
  cut: Cut | null;
  /** The most bytes that went each way on a connection. */
  readonly seen: { request: number; response: number };
  close(): void;
}

const pass = (from: Socket, to: Socket, most: number, count: (bytes: number) => void, cut: () => void) => {
  let passed = 0;
  if (most === 0) cut();
  from.on('data', (bytes) => {
    const allowed = bytes.subarray(0, Math.max(0, most - passed));
    passed += allowed.length;
    count(passed);
    if (allowed.length > 0) to.write(allowed);
    // What was let through arrives, and then nothing more: what was not yet sent by the kernel is not taken back.
    if (passed >= most) cut();
  });
  from.on('end', () => to.end());
  from.on('error', () => to.destroy());
};

export const openCuttingProxy = async (port: number): Promise<CuttingProxy> => {
  const seen = { request: 0, response: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const { cut } = proxy;
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
    const maxOf = (way: Cut['of']) => (cut?.of === way ? cut.after : Number.POSITIVE_INFINITY);
    const end = () => {
      client.destroySoon();
      upstream.destroySoon();
    };
    const counting = (way: Cut['of']) => (bytes: number) => {
      seen[way] = Math.max(seen[way], bytes);
    };
    pass(client, upstream, maxOf('request'), counting('request'), end);
    pass(upstream, client, maxOf('response'), counting('response'), end);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: CuttingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: null,
    seen,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return proxy;
};
