/** How a worker takes the connections over that the first process has accepted. */
import type { Server } from 'node:http';
import { Socket } from 'node:net';
import type { Stop } from './messages.ts';

interface Taking {
  readonly onStop: (stop: Stop) => void;
  /** So many were taken so far, and so many are open: whenever that has changed, once in a turn of the event loop. */
  readonly tell: (connections: { readonly taken: number; readonly open: number }) => void;
}

/** Takes them from Node's own channel to the first process. What it says after them comes after them here. */
export const takeConnections = (server: Server, { onStop, tell }: Taking): void => {
  let taken = 0;
  let open = 0;
  let scheduled = false;
  const change = () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      tell({ taken, open });
    });
  };
  // It never listens, and has to be told so that it ends those that are too slow: http looks for them from then on.
  server.emit('listening');
  process.on('message', (message: 'connection' | Stop, socket: unknown) => {
    if (message !== 'connection') return onStop(message);
    taken += 1;
    change();
    // It may have been closed on its way.
    if (!(socket instanceof Socket)) return;
    open += 1;
    socket.once('close', () => {
      open -= 1;
      change();
    });
    // As node:http accepts them: who has sent all of a request may still read the answer.
    socket.allowHalfOpen = true;
    server.emit('connection', socket);
  });
};
