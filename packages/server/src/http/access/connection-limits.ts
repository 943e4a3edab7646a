/** Limits the connections from one address (except a trusted proxy's) and the requests queued on one connection. */
import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { createNetworkHash, createNetworkMatcher, networkOf, normalizeAddress } from './client-address.ts';

/**
 * The maximum number of connections from an address that have not sent a valid token. Beyond it, the oldest is closed.
 */
const maxUnauthenticated = 100;

/** The maximum number of queued pipelined requests on one connection (RFC 9112 section 9.3.2). Browsers send none. */
const maxWaiting = 4;

interface Share {
  /** The number of connections from an address. */
  count: number;
  /** The connections that have not sent a valid token, oldest first. */
  readonly unauthenticated: Set<Socket>;
}

/**
 * Closes a connection and stops its parser. Otherwise, Node would still parse each buffered request, at 12 µs each
 * (Node 20 to 24).
 */
const cutOff = (socket: Socket & { parser?: { onIncoming?: () => number } | null }) => {
  if (socket.parser) socket.parser.onIncoming = () => -1;
  socket.destroy();
};

/** Allows each address `maxPerAddress` connections. */
export const createConnectionLimits = (trustProxy: readonly string[], maxPerAddress: number) => {
  const isTrusted = createNetworkMatcher(trustProxy);
  const hashOf = createNetworkHash();
  const byAddress = new Map<string, Share>();
  const shares = new WeakMap<Socket, Share>();
  const waiting = new WeakMap<Socket, number>();

  return {
    /** Records that a connection has sent a valid token. */
    vouch: (socket: Socket) => void shares.get(socket)?.unauthenticated.delete(socket),

    /** Limits the connections to a server. */
    guard: (server: Server) =>
      server.prependListener('connection', (socket: Socket) => {
        const connected = normalizeAddress(socket.remoteAddress ?? '');
        if (isTrusted(connected)) return;
        const address = hashOf(networkOf(connected));
        const share = byAddress.get(address) ?? { count: 0, unauthenticated: new Set() };
        if (share.count >= maxPerAddress) return void socket.destroy();
        byAddress.set(address, share);
        shares.set(socket, share);
        share.count += 1;
        share.unauthenticated.add(socket);
        const [oldest] = share.unauthenticated;
        if (share.unauthenticated.size > maxUnauthenticated && oldest !== undefined) {
          share.unauthenticated.delete(oldest);
          oldest.destroy();
        }
        socket.once('close', () => {
          share.unauthenticated.delete(socket);
          share.count -= 1;
          if (share.count === 0) byAddress.delete(address);
        });
      }),

    /** Wraps `listener` to close a connection with too many pipelined requests. */
    limitPipelining:
      (listener: RequestListener): RequestListener =>
      (incoming, outgoing) => {
        // Node assigns a socket to a response only once the connection's earlier responses are complete.
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
