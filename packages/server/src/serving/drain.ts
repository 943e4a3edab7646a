import type { Server, ServerResponse } from 'node:http';
import { type Socket, Server as SocketServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';

/** A busy client sends its next request within this time; the response then closes the connection. */
const idleMs = 500;
const pollMs = 25;

/** An event-loop turn shorter than this did little work. */
const quickTurnMs = 1;
/** More than a kernel's backlog of pending connections. */
const maxTurns = 1_000;

interface ConnectionState {
  /** The responses in progress. */
  readonly responses: Set<ServerResponse>;
  /** The bytes read when the last response completed. If more have arrived since, a request has begun. */
  bytesSettled: number;
}

/**
 * Returns a function that stops accepting connections. It first accepts connections that are pending in the kernel, one
 * per event-loop turn, because closing would reset them. A short turn without a new connection shows that the backlog
 * is empty.
 */
const createListenerClose = (server: Server): (() => Promise<void>) => {
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
    // http.Server.close would also close idle connections.
    SocketServer.prototype.close.call(server);
  };
};

/**
 * Calls `onListenerClosed` when no more connections are accepted. From then on, every response should close its
 * connection.
 */
type Drain = (limitMs: number, onListenerClosed: () => void) => Promise<number>;

/**
 * Tracks a server's connections. Returns a function that stops accepting connections, sends `Connection: close` with
 * every response, and closes idle connections. After `limitMs` it aborts the remaining requests and resolves with their
 * number.
 *
 * Node's `server.close()` closes idle connections immediately, although a request might be on its way. It also leaves
 * unused connections open, such as connections that browsers open in advance.
 */
export const trackConnections = (server: Server): Drain => {
  const connections = new Map<Socket, ConnectionState>();
  const closeListener = createListenerClose(server);
  let draining = false;

  server.on('connection', (socket) => {
    connections.set(socket, { responses: new Set(), bytesSettled: 0 });
    socket.once('close', () => connections.delete(socket));
  });

  // Prepended, because the application's listener can respond synchronously.
  server.prependListener('request', (request, response) => {
    const { socket } = request;
    const state = connections.get(socket);
    if (!state) return;
    const settle = () => {
      if (state.responses.size === 0) state.bytesSettled = socket.bytesRead;
    };
    if (draining) response.shouldKeepAlive = false;
    state.responses.add(response);
    response.once('close', () => {
      state.responses.delete(response);
      settle();
    });
    // The rest of a refused body can arrive after the response.
    request.once('close', settle);
  });

  const isIdle = ([socket, state]: [Socket, ConnectionState]) =>
    state.responses.size === 0 && socket.bytesRead === state.bytesSettled;

  return async (limitMs, onListenerClosed) => {
    const deadline = performance.now() + limitMs;
    await closeListener();
    // Connections are closed only now, because a client whose connection is closed opens a new one, which would be
    // reset if the listener closed later.
    draining = true;
    onListenerClosed();
    for (const { responses } of connections.values())
      for (const response of responses) response.shouldKeepAlive = false;
    let quietMs = 0;
    while (connections.size > 0 && performance.now() < deadline) {
      const pollStart = performance.now();
      await wait(pollMs);
      // A late timer fires before newly arrived bytes are read; closing a connection then would reset it.
      await nextTurn();
      // A late timer doesn't count: if this process is waiting for the CPU, so are its clients.
      if (performance.now() - pollStart < 2 * pollMs) quietMs += pollMs;
      if (quietMs >= idleMs) for (const [socket] of [...connections].filter(isIdle)) socket.destroy();
    }
    const cutOff = [...connections.values()].reduce((count, { responses }) => count + responses.size, 0);
    // Also stops the http module's timer that checks for slow connections.
    server.close();
    server.closeAllConnections();
    return cutOff;
  };
};
