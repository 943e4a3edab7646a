import type { Server, ServerResponse } from 'node:http';
import { type Socket, Server as SocketServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';

/** A busy client sends its next request within this time, and the response to that closes the connection. */
const idleMs = 500;
const lookMs = 25;

/** A turn of the event loop that took less did little work. */
const quickTurnMs = 1;
/** More than the connections that a kernel lets wait. */
const maxTurns = 1_000;

interface Use {
  /** The responses that are not complete. */
  readonly responses: Set<ServerResponse>;
  /** The bytes read when the last response was complete. If more have arrived, a request has begun. */
  bytesSettled: number;
}

/**
 * Returns a function that stops accepting connections. It first accepts those that wait in the kernel, because closing would reset
 * them; each turn of the event loop accepts one. It closes right after a short turn that accepted none, so that hardly any new
 * connection can be waiting.
 */
const createDoor = (server: Server): (() => Promise<void>) => {
  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  const acceptAll = async (): Promise<void> => {
    await nextTurn();
    for (let turn = 0; turn < maxTurns; turn += 1) {
      const before = accepted;
      const began = performance.now();
      await nextTurn();
      if (accepted === before && performance.now() - began < quickTurnMs) return;
    }
  };
  return async () => {
    await acceptAll();
    // The close of http.Server would close idle connections as well.
    SocketServer.prototype.close.call(server);
  };
};

/** `onRefusing` is called once no more connections are accepted. From then on, every response should close its connection. */
type Drain = (limitMs: number, onRefusing: () => void) => Promise<number>;

/**
 * Follows a server's connections, and returns a function that stops the server without losing a request. It accepts no more
 * connections, then sends `Connection: close` with every response, and closes each connection once it is idle. After `limitMs` it
 * cuts off the remaining requests. It resolves with their number.
 *
 * Node's `server.close()` is no substitute: it closes idle connections at once, although a request may already be on its way, and
 * keeps connections open that were never used (browsers open some ahead of need).
 */
export const followConnections = (server: Server): Drain => {
  const uses = new Map<Socket, Use>();
  const closeDoor = createDoor(server);
  let draining = false;

  server.on('connection', (socket) => {
    uses.set(socket, { responses: new Set(), bytesSettled: 0 });
    socket.once('close', () => uses.delete(socket));
  });

  // Prepended, because the application's listener may respond at once.
  server.prependListener('request', (request, response) => {
    const { socket } = request;
    const use = uses.get(socket);
    if (!use) return;
    const settle = () => {
      if (use.responses.size === 0) use.bytesSettled = socket.bytesRead;
    };
    if (draining) response.shouldKeepAlive = false;
    use.responses.add(response);
    response.once('close', () => {
      use.responses.delete(response);
      settle();
    });
    // The rest of a refused body arrives after the response.
    request.once('close', settle);
  });

  const isIdle = ([socket, use]: [Socket, Use]) => use.responses.size === 0 && socket.bytesRead === use.bytesSettled;

  return async (limitMs, onRefusing) => {
    const deadline = performance.now() + limitMs;
    await closeDoor();
    // Not before the server refuses connections: a client whose connection is closed makes a new one, which could be reset.
    draining = true;
    onRefusing();
    for (const { responses } of uses.values()) for (const response of responses) response.shouldKeepAlive = false;
    let quietMs = 0;
    while (uses.size > 0 && performance.now() < deadline) {
      const looked = performance.now();
      await wait(lookMs);
      // A late timer fires before the bytes that have arrived meanwhile are read. Closing a connection then would reset it.
      await nextTurn();
      // A late timer does not count: if this process has to wait for the CPU, its clients do too.
      if (performance.now() - looked < 2 * lookMs) quietMs += lookMs;
      if (quietMs >= idleMs) for (const [socket] of [...uses].filter(isIdle)) socket.destroy();
    }
    const cutOff = [...uses.values()].reduce((count, { responses }) => count + responses.size, 0);
    // Also stops http's timer that checks for slow connections.
    server.close();
    server.closeAllConnections();
    return cutOff;
  };
};
