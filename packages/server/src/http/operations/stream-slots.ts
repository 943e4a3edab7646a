/** Limits the number of responses that stay open for as long as the client reads them. */
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import { bindingsOf } from '../access/client-address.ts';

/**
 * Returns a function that takes one of an account's `max` slots, and in turn returns a function that releases the slot.
 * Throws Refusal('too_many_requests') if all slots are taken.
 */
export const createStreamSlots = (max: number, numbers = { streams: 0 }) => {
  const open = new Map<number, number>();
  return (account: number) => {
    const others = open.get(account) ?? 0;
    if (others >= max) throw new Refusal('too_many_requests', { retryAfterSeconds: 10 });
    open.set(account, others + 1);
    numbers.streams += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      numbers.streams -= 1;
      const remaining = (open.get(account) as number) - 1;
      if (remaining > 0) open.set(account, remaining);
      else open.delete(account);
    };
  };
};

/**
 * Whether the response is queued behind an earlier one on its connection (pipelining). When the client disconnects,
 * Node 20 and 22 emit no event on a queued response, so a stream would never release its slot.
 */
export const isQueued = (c: Context): boolean => bindingsOf(c).outgoing?.socket === null;
