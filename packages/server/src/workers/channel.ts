/** One end of the pipe between the first process and a worker. */
import type { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';
import { createFrameReader, type Frame, type FrameKind, toBytes } from './frames.ts';

/** A frame of the store's. */
export type ParcelFrame = Omit<Frame, 'kind'> & { readonly kind: Exclude<FrameKind, 'message'> };

export interface Channel<Sent> {
  send(message: Sent): void;
  sendParcel(frame: ParcelFrame): void;
  /** Resolves when all that was sent is on its way. */
  end(): Promise<void>;
}

interface Hearing<Heard> {
  readonly onMessage: (message: Heard) => void;
  readonly onParcel: (frame: ParcelFrame) => void;
  /** The other end is gone, or has sent what is no frame. Once. */
  readonly onEnd: (error: Error | undefined) => void;
}

/** What is sent within a turn of the event loop goes in one write. What is sent to an end that is gone goes nowhere. */
export const openChannel = <Sent, Heard>(
  socket: Socket,
  { onMessage, onParcel, onEnd }: Hearing<Heard>,
): Channel<Sent> => {
  let ended = false;
  const end = (error?: Error) => {
    if (ended) return;
    ended = true;
    socket.destroy();
    onEnd(error);
  };
  const read = createFrameReader((frame) => {
    const { kind } = frame;
    if (kind === 'message') onMessage(deserialize(frame.payload) as Heard);
    else onParcel({ ...frame, kind });
  });
  socket
    .on('data', (chunk: Buffer) => {
      try {
        read(chunk);
      } catch (error) {
        end(error as Error);
      }
    })
    .on('error', end)
    .on('end', () => end())
    .on('close', () => end());

  let corked = false;
  const write = (kind: FrameKind, id: number, bytes: number, payload: Uint8Array) => {
    if (ended || socket.writableEnded) return;
    if (!corked) {
      corked = true;
      socket.cork();
      process.nextTick(() => {
        corked = false;
        socket.uncork();
      });
    }
    socket.write(toBytes({ kind, id, bytes, payload }));
  };

  return {
    send: (message) => write('message', 0, 0, serialize(message)),
    sendParcel: ({ kind, id, bytes, payload }) => write(kind, id, bytes, payload),
    end: () => new Promise((resolve) => socket.end(resolve)),
  };
};
