/** Bounds the event names that the pages of one network add to catalogues, so that none takes the room of all others. */
import { BoundedMap } from '../../shared/bounded-map.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { NewEvent } from '../../store/store.ts';
import { accountOf, type Caller } from './caller.ts';
import type { RateLimit } from './rate-limits.ts';

/** Up to 5 MB of the longest names. */
const maxCountedNames = 10_000;

/** Returns the events of a request, of which those beyond the limit may not add their names. */
export type LimitNewNames = (caller: Caller, events: readonly NewEvent[]) => readonly NewEvent[];

export const createNewNames = (limit: RateLimit): LimitNewNames => {
  /** Names by account, each counted once for the network that sent it first: they are listed by now. */
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
