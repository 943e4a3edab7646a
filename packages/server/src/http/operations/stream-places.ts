/** Bounds the responses that are sent for as long as a client reads them. */
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import { bindingsOf } from '../access/client-address.ts';

/**
 * Returns a function that counts an open response of an account, and returns a function to be called when it has ended. It throws
 * Refusal('too_many_requests') if the account has `max` open.
 */
export const createStreamPlaces = (max: number, numbers = { streams: 0 }) => {
  const open = new Map<number, number>();
  return (account: number) => {
    const others = open.get(account) ?? 0;
    if (others >= max) throw new Refusal('too_many_requests', { retryAfterSeconds: 10 });
    open.set(account, others + 1);
    numbers.streams += 1;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      numbers.streams -= 1;
      const left = (open.get(account) as number) - 1;
      if (left > 0) open.set(account, left);
      else open.delete(account);
    };
  };
};

/**
 * Whether the response waits for an earlier one on its connection (pipelining). Node 20 and 22 don't tell such a response when the
 * client leaves, so a stream would keep its place for ever.
 */
export const isQueued = (c: Context): boolean => bindingsOf(c).outgoing?.socket === null;
