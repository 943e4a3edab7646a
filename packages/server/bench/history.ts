/**
 * A month of history that ends today, built through the Store. `--events` sets its size: `npm run bench -- reads
 * --events 50000000`.
 */
import type { NewEvent } from '../src/store/store.ts';
import { openBenchmark } from './account.ts';
import { type CachedDatabase, openCached } from './cached-database.ts';
import { createLimiter, eventsPerBatch, newContact, retryUnavailable, storeAll } from './fill-store.ts';
import { settle } from './settle.ts';
import { countUsers, createVisits } from './visits.ts';

const day = 86_400_000;
export const historyDays = 30;

export interface History {
  readonly events: number;
  /** The number of visitors, who are numbered from 0 in the order of their first visits. */
  readonly users: number;
  /** The visitors who signed up. */
  readonly contacts: readonly number[];
  /** The first and last events' times. */
  readonly from: number;
  readonly to: number;
}

const fill = async (path: string, events: number): Promise<History> => {
  const to = Date.now();
  const from = to - historyDays * day;
  const timeOf = (event: number) => Math.floor(from + (event / events) * (to - from));
  const { store, caller } = await openBenchmark(path, from);
  try {
    const next = createVisits(events);
    const limiter = createLimiter();
    const contacts: number[] = [];
    for (let created = 0; created < events; ) {
      const batch: NewEvent[] = [];
      for (const end = Math.min(events, created + eventsPerBatch); created < end; created += 1) {
        const { event, signsUp } = next(timeOf(created));
        batch.push(event);
        if (signsUp === undefined) continue;
        contacts.push(signsUp);
        await limiter.add(async () => {
          await retryUnavailable(() => store.createContact(newContact(caller, signsUp, event.eventTime)));
        });
      }
      await limiter.add(() => storeAll(store, caller, timeOf(created), batch));
    }
    await limiter.end();
    await settle();
    return { events, users: countUsers(events), contacts, from, to };
  } finally {
    await store.close();
  }
};

/** Opens a history with the given number of events. */
export const openHistory = (events: number): Promise<CachedDatabase<History>> =>
  openCached(`${events}-events`, (path) => fill(path, events));

/** The first of the 10,000 newest visitors, who send the events that are measured. */
export const getFirstUser = ({ about }: CachedDatabase<History>): number => Math.max(0, about.users - 10_000);
