import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../refusal.ts';

/** Bounds the number of open streams of each account. */
interface StreamPlaces {
  /** Counts a stream. Throws Refusal('too_many_requests') if the account already has the most allowed. */
  enter(account: number): void;
  /** To be called once for each `enter`. */
  leave(account: number): void;
}

export const createStreamPlaces = (): StreamPlaces => {
  const open = new Map<number, number>();
  return {
    enter(account) {
      const others = open.get(account) ?? 0;
      if (others >= limits.streamsPerAccount) throw new Refusal('too_many_requests', { retryAfterSeconds: 10 });
      open.set(account, others + 1);
    },
    leave(account) {
      const others = (open.get(account) as number) - 1;
      if (others > 0) open.set(account, others);
      else open.delete(account);
    },
  };
};
