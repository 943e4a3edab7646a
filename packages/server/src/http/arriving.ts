/** Large bodies while they come in, of which a client may send as much as it likes and then wait. */

export interface Arriving {
  /** So many bytes more have come in. */
  add(bytes: number): void;
  /** It has come in whole, or is given up. */
  end(): void;
}

/** A body begins to come in. `giveUp` is called, once at most, when what has come in of it is to be let go. */
export type Arrive = (giveUp: () => void) => Arriving;

/** Beside its bytes, what a piece takes that came in by itself. */
const bytesPerPiece = 1_024;

/**
 * Bounds what all of them together take, to `most` bytes. Beyond it, those are given up that have been coming in for longest: who waits makes
 * room for who doesn't, so that slow clients take nobody else's place.
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

/** Of what nobody bounds. */
export const arriveUnbounded: Arrive = () => ({ add: () => {}, end: () => {} });
