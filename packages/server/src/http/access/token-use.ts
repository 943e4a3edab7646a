/** Records in which hours tokens were used, in batched writes. */
import { BoundedMap } from '../../shared/bounded-map.ts';
import type { Store } from '../../store/store.ts';

const hourMs = 3_600_000;
/** Uses noted within this time are written together. */
const gatherMs = 30_000;
const maxCached = 10_000;
/** A stopping server waits this long for its last write. */
const finishMs = 500;

export interface TokenUse {
  /** Notes that a token is used now. The use is written once for each hour with a use, outside of any request. */
  note(token: number): void;
  /** Writes the uses that are not written yet. Resolves when they are, and after 500 ms at the latest; never rejects. */
  finish(): Promise<void>;
}

/** `now` is the time of day, in milliseconds since 1970. */
export const createTokenUse = (store: Pick<Store, 'noteTokenUses'>, now: () => number): TokenUse => {
  const noted = new BoundedMap<number, number>(maxCached);
  let waiting: [token: number, hour: number][] = [];

  const write = async () => {
    const uses = waiting;
    waiting = [];
    if (uses.length === 0) return;
    try {
      await store.noteTokenUses({ uses });
    } catch {
      // The next use of each token tries again.
      for (const [token] of uses) noted.delete(token);
    }
  };

  return {
    note(token) {
      const time = now();
      const hour = time - (time % hourMs);
      if (noted.get(token) === hour) return;
      noted.set(token, hour);
      if (waiting.length === 0) setTimeout(write, gatherMs).unref();
      waiting.push([token, hour]);
    },
    finish: () => Promise.race([write(), new Promise<void>((resolve) => setTimeout(resolve, finishMs).unref())]),
  };
};
