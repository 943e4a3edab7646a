/** What passes between the first process and a worker, as bytes of a pipe: a head of 13 bytes, and what comes with it. */

/** `message`: a value, as node:v8 writes it. The others are of the store: see several.ts there. */
export const frameKinds = ['message', 'commit', 'commit of access', 'outcomes', 'not kept'] as const;
export type FrameKind = (typeof frameKinds)[number];

export interface Frame {
  readonly kind: FrameKind;
  /** Of the commit that it asks for, or answers. */
  readonly id: number;
  /** About what the calls of a commit hold in memory. */
  readonly bytes: number;
  readonly payload: Uint8Array;
}

export class NotAFrame extends Error {
  override readonly name = 'NotAFrame';
}

const headLength = 13;
/** Far more than may wait for a commit: what says that it is longer is no frame. */
const mostLength = 256 * 1024 * 1024;

export const toBytes = ({ kind, id, bytes, payload }: Frame): Buffer => {
  const frame = Buffer.allocUnsafe(headLength + payload.length);
  frame.writeUInt32LE(payload.length, 0);
  frame.writeUInt8(frameKinds.indexOf(kind), 4);
  frame.writeUInt32LE(id, 5);
  frame.writeUInt32LE(bytes, 9);
  frame.set(payload, headLength);
  return frame;
};

/**
 * Cuts what comes in, in whatever pieces, into frames. A payload lies in the bytes that came in: what is to be kept of it, or
 * handed on, has to be copied. Throws NotAFrame; what is left at the end was half a frame, and counts for nothing.
 */
export const createFrameReader = (onFrame: (frame: Frame) => void): ((chunk: Buffer) => void) => {
  let held: Buffer[] = [];
  let heldLength = 0;
  let wantedLength = headLength;
  return (chunk) => {
    held.push(chunk);
    heldLength += chunk.length;
    // Joined once, when all is there: a long frame comes in hundreds of pieces.
    if (heldLength < wantedLength) return;
    const bytes = held.length === 1 ? chunk : Buffer.concat(held, heldLength);
    let at = 0;
    for (wantedLength = headLength; bytes.length - at >= wantedLength; wantedLength = headLength) {
      const length = bytes.readUInt32LE(at);
      const kind = frameKinds[bytes.readUInt8(at + 4)];
      if (kind === undefined || length > mostLength) throw new NotAFrame('what came through the pipe is no frame');
      wantedLength += length;
      if (bytes.length - at < wantedLength) break;
      const payload = bytes.subarray(at + headLength, at + wantedLength);
      onFrame({ kind, id: bytes.readUInt32LE(at + 5), bytes: bytes.readUInt32LE(at + 9), payload });
      at += wantedLength;
    }
    heldLength = bytes.length - at;
    held = heldLength > 0 ? [bytes.subarray(at)] : [];
  };
};
