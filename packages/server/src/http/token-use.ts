import type { Store } from '../store/store.ts';

const hourMs = 3_600_000;
/** Uses that are noted within so long are written together, with whatever else is being committed then. */
const gatherMs = 30_000;
const mostRemembered = 10_000;

interface TokenUseOptions {
  readonly store: Pick<Store, 'noteTokenUses'>;
  /** The time of day, in milliseconds since 1970. */
  readonly now: () => number;
}

/** Notes that a token was used: written once for each hour in which it is, apart from any request. */
export const createTokenUse = ({ store, now }: TokenUseOptions): ((token: number) => void) => {
  const noted = new Map<number, number>();
  let waiting: [token: number, hour: number][] = [];

  const write = async () => {
    const uses = waiting;
    waiting = [];
    try {
      await store.noteTokenUses({ uses });
    } catch {
      // The next use of each token tries again.
      for (const [token] of uses) noted.delete(token);
    }
  };

  return (token) => {
    const time = now();
    const hour = time - (time % hourMs);
    if (noted.get(token) === hour) return;
    if (noted.size >= mostRemembered) noted.clear();
    noted.set(token, hour);
    if (waiting.length === 0) setTimeout(write, gatherMs).unref();
    waiting.push([token, hour]);
  };
};
