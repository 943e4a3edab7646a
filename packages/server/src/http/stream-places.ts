import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../refusal.ts';

/** Bounds how many streams an account has open. */
export interface StreamPlaces {
  /** Throws Refusal('too_many_requests') when there are as many as may be. */
  enter(account: number): void;
  /** Once for each that has entered. */
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
