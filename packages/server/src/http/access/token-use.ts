/** Records in which hours tokens were used, in batched writes. */
import { BoundedMap } from '../../shared/bounded-map.ts';
import type { Store } from '../../store/store.ts';

const hourMs = 3_600_000;
/** Uses within this time are written in one batch. */
const batchMs = 30_000;
const maxCached = 10_000;
/** How long a stopping server waits for its last write. */
const finishMs = 500;

export interface TokenUse {
  /** Records that a token is in use now. Each hour of use is written once, in the background. */
  note(token: number): void;
  /** Writes pending uses. Resolves once they are written, or after 500 ms; never rejects. */
  finish(): Promise<void>;
}

/** `now` is the time of day, in milliseconds since 1970. */
export const createTokenUse = (store: Pick<Store, 'recordTokenUses'>, now: () => number): TokenUse => {
  const hours = new BoundedMap<number, number>(maxCached);
  let pending: [token: number, hour: number][] = [];

  const write = async () => {
    const uses = pending;
    pending = [];
    if (uses.length === 0) return;
    try {
      await store.recordTokenUses({ uses });
    } catch {
      // Each token's next use retries the write.
      for (const [token] of uses) hours.delete(token);
    }
  };

  return {
    note(token) {
      const time = now();
      const hour = time - (time % hourMs);
      if (hours.get(token) === hour) return;
      hours.set(token, hour);
      if (pending.length === 0) setTimeout(write, batchMs).unref();
      pending.push([token, hour]);
    },
    finish: () => Promise.race([write(), new Promise<void>((resolve) => setTimeout(resolve, finishMs).unref())]),
  };
};
