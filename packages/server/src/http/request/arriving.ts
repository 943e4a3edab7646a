/** Bounds the memory of large bodies that are still arriving, because a client may send part of one and then wait. */

export interface Arriving {
  /** Counts bytes that have arrived. */
  add(bytes: number): void;
  /** Stops counting the body: it has arrived whole, or was given up. */
  end(): void;
}

/** Starts counting a body. `giveUp` is called at most once, when the bytes that have arrived must be dropped. */
export type Arrive = (giveUp: () => void) => Arriving;

/** The memory that each arriving chunk takes besides its bytes. */
const bytesPerPiece = 1_024;

/**
 * Bounds the memory of all arriving bodies to `most` bytes. Beyond it the bodies that began first are given up, so that slow
 * clients make room for fast ones.
 */
export const createArrivals = (most: number): Arrive => {
  const underWay = new Set<{ bytes: number; readonly giveUp: () => void }>();
  let total = 0;
  return (giveUp) => {
    const body = { bytes: 0, giveUp };
    const leave = (one: typeof body) => {
      if (underWay.delete(one)) total -= one.bytes;
    };
    underWay.add(body);
    return {
      add(bytes) {
        if (!underWay.has(body)) return;
        body.bytes += bytes + bytesPerPiece;
        total += bytes + bytesPerPiece;
        for (const oldest of underWay) {
          if (total <= most) return;
          leave(oldest);
          oldest.giveUp();
        }
      },
      end: () => leave(body),
    };
  };
};

/** For bodies that are not bounded. */
export const arriveUnbounded: Arrive = () => ({ add: () => {}, end: () => {} });
