/**
 * Limits the event names that pages in one network may add to catalogues, so that no network can use up an account's
 * quota.
 */
import { BoundedMap } from '../../shared/bounded-map.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { NewEvent } from '../../store/store.ts';
import { accountOf, type Caller } from './caller.ts';
import type { RateLimit } from './rate-limits.ts';

/** With the longest names, these entries take up to 5 MB. */
const maxCountedNames = 10_000;

/** Returns a request's events. Events beyond the limit are not allowed to add their names. */
export type LimitNewNames = (caller: Caller, events: readonly NewEvent[]) => readonly NewEvent[];

export const createNewNameLimit = (limit: RateLimit): LimitNewNames => {
  /**
   * Account and name pairs. Each pair counts once, against the network that sent it first: after that, the name is in
   * the catalogue.
   */
  const counted = new BoundedMap<string, true>(maxCountedNames);
  return (caller, events) => {
    const network = caller.access.kind === 'browser' ? caller.networkOf?.() : undefined;
    if (network === undefined) return events;
    const account = accountOf(caller);
    const mayAdd = (eventName: string): boolean => {
      const name = `${account} ${eventName}`;
      if (counted.has(name)) return true;
      try {
        limit.take(network);
      } catch (error) {
        if (error instanceof Refusal) return false;
        throw error;
      }
      counted.set(name, true);
      return true;
    };
    return events.map((event) =>
      event.eventName === null || mayAdd(event.eventName) ? event : { ...event, mayAddName: false },
    );
  };
};
