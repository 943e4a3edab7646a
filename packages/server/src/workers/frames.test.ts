import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFrameReader, type Frame, frameKinds, NotAFrame, toBytes } from './frames.ts';

const frame = fc.record({
  kind: fc.constantFrom(...frameKinds),
  id: fc.nat(2 ** 32 - 1),
  bytes: fc.nat(2 ** 32 - 1),
  payload: fc.uint8Array({ maxLength: 200 }),
});

/** What comes of it when it comes in pieces of these lengths, again and again. */
const readIn = (stream: Buffer, lengths: readonly number[]): Frame[] => {
  const frames: Frame[] = [];
  const read = createFrameReader((one) => frames.push({ ...one, payload: new Uint8Array(one.payload) }));
  for (let at = 0, piece = 0; at < stream.length; piece += 1) {
    const length = lengths[piece % lengths.length] as number;
    read(stream.subarray(at, at + length));
    at += length;
  }
  return frames;
};

it('frames come as they were sent, whatever pieces they come in', () => {
  fc.assert(
    fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1 }), (frames, lengths) => {
      expect(readIn(Buffer.concat(frames.map(toBytes)), lengths)).toEqual(frames);
    }),
  );
});

it('half a frame is none', () => {
  const [whole, half] = ['commit', 'commit'].map((kind, id) =>
    toBytes({ kind: kind as 'commit', id, bytes: 1, payload: Buffer.alloc(100) }),
  );
  const stream = Buffer.concat([whole as Buffer, (half as Buffer).subarray(0, -1)]);
  expect(readIn(stream, [64])).toHaveLength(1);
});

it('a long one is joined once', () => {
  const payload = new Uint8Array(3_000_000).fill(7);
  const [read] = readIn(toBytes({ kind: 'outcomes', id: 1, bytes: 0, payload }), [65_536]);
  expect(Buffer.from(payload).equals(read?.payload as Uint8Array)).toBe(true);
});

it('what is no frame is noticed', () => {
  expect(() => readIn(Buffer.alloc(13, 0xff), [13])).toThrow(NotAFrame);
});
