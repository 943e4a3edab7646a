/** Bounds the connections of one address (a trusted proxy's are not bounded), and the requests that wait on one connection. */
import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { bare, createIsIn, createNetworkHash, networkOf } from './client-address.ts';

/** Connections of an address over which no good token has arrived. Beyond these the oldest is closed. */
const maxStrangers = 100;

/** Requests that wait for another's response on their connection (pipelining, RFC 9112 section 9.3.2). Browsers send none. */
const maxWaiting = 4;

interface Share {
  /** The number of connections of an address. */
  count: number;
  /** The connections over which no good token has arrived, oldest first. */
  readonly strangers: Set<Socket>;
}

/** Ends a connection and its parser, because each request that Node's parser still holds costs 12 µs otherwise (Node 20 to 24). */
const cutOff = (socket: Socket & { parser?: { onIncoming?: () => number } | null }) => {
  if (socket.parser) socket.parser.onIncoming = () => -1;
  socket.destroy();
};

/** One address may hold `maxPerAddress` connections. */
export const createConnectionShares = (trustProxy: readonly string[], maxPerAddress: number) => {
  const isTrusted = createIsIn(trustProxy);
  const hashOf = createNetworkHash();
  const byAddress = new Map<string, Share>();
  const holding = new WeakMap<Socket, Share>();
  const waiting = new WeakMap<Socket, number>();

  return {
    /** Notes that a good token has arrived over a connection. */
    vouch: (socket: Socket) => void holding.get(socket)?.strangers.delete(socket),

    /** Bounds the connections to a server. */
    guard: (server: Server) =>
      server.prependListener('connection', (socket: Socket) => {
        const connected = bare(socket.remoteAddress ?? '');
        if (isTrusted(connected)) return;
        const address = hashOf(networkOf(connected));
        const held = byAddress.get(address) ?? { count: 0, strangers: new Set() };
        if (held.count >= maxPerAddress) return void socket.destroy();
        byAddress.set(address, held);
        holding.set(socket, held);
        held.count += 1;
        held.strangers.add(socket);
        const [oldest] = held.strangers;
        if (held.strangers.size > maxStrangers && oldest !== undefined) {
          held.strangers.delete(oldest);
          oldest.destroy();
        }
        socket.once('close', () => {
          held.strangers.delete(socket);
          held.count -= 1;
          if (held.count === 0) byAddress.delete(address);
        });
      }),

    /** As `listener`, except that a connection is closed when too many requests wait on it. */
    withoutQueues:
      (listener: RequestListener): RequestListener =>
      (incoming, outgoing) => {
        // A response has no socket until the responses before it on the connection are complete.
        if (outgoing.socket === null) {
          const { socket } = incoming;
          const others = waiting.get(socket) ?? 0;
          if (others >= maxWaiting) return cutOff(socket);
          waiting.set(socket, others + 1);
          outgoing.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
        }
        listener(incoming, outgoing);
      },
  };
};
