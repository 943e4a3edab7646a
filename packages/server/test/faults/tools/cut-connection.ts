/** Opens a proxy that cuts connections after a given number of bytes of the request or of the response. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Cut {
  readonly of: 'request' | 'response';
  /** The number of bytes that are forwarded before the cut. */
  readonly after: number;
}

interface CuttingProxy {
  readonly url: string;
  /** How to cut connections that are opened from now on; null to cut none. */
  cut: Cut | null;
  /** The maximum number of bytes that one connection transferred in each direction. */
  readonly largest: { request: number; response: number };
  close(): void;
}

const forward = (from: Socket, to: Socket, maxBytes: number, count: (bytes: number) => void, cut: () => void) => {
  let forwarded = 0;
  if (maxBytes === 0) cut();
  from.on('data', (bytes) => {
    const allowed = bytes.subarray(0, Math.max(0, maxBytes - forwarded));
    forwarded += allowed.length;
    count(forwarded);
    if (allowed.length > 0) to.write(allowed);
    // Closes after flushing, so that every allowed byte arrives, including bytes in the kernel’s buffer.
    if (forwarded >= maxBytes) cut();
  });
  from.on('end', () => to.end());
  from.on('error', () => to.destroy());
};

export const openCuttingProxy = async (port: number): Promise<CuttingProxy> => {
  const largest = { request: 0, response: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const { cut } = proxy;
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
    const maxBytesOf = (way: Cut['of']) => (cut?.of === way ? cut.after : Number.POSITIVE_INFINITY);
    const end = () => {
      client.destroySoon();
      upstream.destroySoon();
    };
    const countBytes = (way: Cut['of']) => (bytes: number) => {
      largest[way] = Math.max(largest[way], bytes);
    };
    forward(client, upstream, maxBytesOf('request'), countBytes('request'), end);
    forward(upstream, client, maxBytesOf('response'), countBytes('response'), end);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: CuttingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: null,
    largest,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return proxy;
};
