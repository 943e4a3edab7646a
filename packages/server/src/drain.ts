import type { Server, ServerResponse } from 'node:http';
import { type Socket, Server as SocketServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';

/** A client that is busy uses its connection again within this time, and is told then that it was the last. */
const idleMs = 500;
const lookMs = 25;

/** A turn of the event loop in which nothing much was done. */
const quickTurnMs = 1;
/** More than a kernel lets wait. */
const mostTurns = 1_000;

interface Use {
  /** Answers that are still to be finished. */
  readonly responses: Set<ServerResponse>;
  /** What had come in when the last of them was finished; more than that is the beginning of a request. */
  bytesSettled: number;
}

/**
 * The function that it answers lets nobody in any more. First it accepts the connections that the kernel has made, of which a turn of
 * the event loop accepts one: closing would reset them. It ends right after a quick turn without any, so that hardly one can
 * have been made since.
 */
export const createDoor = (server: SocketServer): (() => Promise<void>) => {
  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  const acceptAll = async (): Promise<void> => {
    await nextTurn();
    for (let turn = 0; turn < mostTurns; turn += 1) {
      const before = accepted;
      const began = performance.now();
      await nextTurn();
      if (accepted === before && performance.now() - began < quickTurnMs) return;
    }
  };
  return async () => {
    await acceptAll();
    // Only this: http's own close would close idle connections as well.
    SocketServer.prototype.close.call(server);
  };
};

/** `onRefusing` is called when no new connection is accepted any more: from then on, answers should say that they are the last. */
type Drain = (limitMs: number, onRefusing: () => void) => Promise<number>;

/**
 * Follows a server's connections. The function that it answers stops the server without losing a request: no new
 * connection is accepted, then every answer says `Connection: close`, and a connection is closed when nothing is under way
 * on it. What is under way still after `limitMs` is cut off; how many requests that were is what the promise resolves with.
 *
 * Node's own `server.close()` closes idle connections at once, in the face of a request that is on the wire already, and
 * keeps connections open that were made and never used (as browsers do ahead of need).
 */
export const followConnections = (server: Server): Drain => {
  const uses = new Map<Socket, Use>();
  const closeDoor = createDoor(server);
  let draining = false;

  server.on('connection', (socket) => {
    uses.set(socket, { responses: new Set(), bytesSettled: 0 });
    socket.once('close', () => uses.delete(socket));
  });

  // Before the application's listener, which may answer within it.
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
    // A body that is refused before its end comes in after the answer.
    request.once('close', settle);
  });

  const isIdle = ([socket, use]: [Socket, Use]) => use.responses.size === 0 && socket.bytesRead === use.bytesSettled;

  return async (limitMs, onRefusing) => {
    const deadline = performance.now() + limitMs;
    await closeDoor();
    // Not sooner: a client that is told to close makes a new connection, into the face of the closing.
    draining = true;
    onRefusing();
    for (const { responses } of uses.values()) for (const response of responses) response.shouldKeepAlive = false;
    let quietMs = 0;
    while (uses.size > 0 && performance.now() < deadline) {
      const looked = performance.now();
      await wait(lookMs);
      // A timer that is late comes before what has arrived meanwhile is read: to destroy a connection then would reset it.
      await nextTurn();
      // Where this process has to wait for its turn, its clients have to as well.
      if (performance.now() - looked < 2 * lookMs) quietMs += lookMs;
      if (quietMs >= idleMs) for (const [socket] of [...uses].filter(isIdle)) socket.destroy();
    }
    const cutOff = [...uses.values()].reduce((count, { responses }) => count + responses.size, 0);
    // Also stops http's own timer, which looks for connections that take too long.
    server.close();
    server.closeAllConnections();
    return cutOff;
  };
};
