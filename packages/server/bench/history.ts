/**
 * A month of history that ends today, to measure over. It is built through the Store, whatever its format.
 * `npm run bench -- reads --events 50000000` sets its size.
 */
import type { NewEvent } from '../src/store/store.ts';
import { openBenchmark } from './account.ts';
import { createFlight, eventsPerBatch, insist, keepAll, newContact } from './filling.ts';
import { type Remembered, remember } from './remembered.ts';
import { settle } from './settling.ts';
import { createVisits, usersAmong } from './visits.ts';

const day = 86_400_000;
export const historyDays = 30;

export interface History {
  readonly events: number;
  /** Visitors are numbered from 0 in the order of their first visits. */
  readonly users: number;
  /** The visitors who signed up. */
  readonly contacts: readonly number[];
  /** The times of the first and the last event. */
  readonly from: number;
  readonly to: number;
}

const fill = async (path: string, events: number): Promise<History> => {
  const to = Date.now();
  const from = to - historyDays * day;
  const timeOf = (event: number) => Math.floor(from + (event / events) * (to - from));
  const { store, asker } = await openBenchmark(path, from);
  try {
    const next = createVisits(events);
    const flight = createFlight();
    const contacts: number[] = [];
    for (let made = 0; made < events; ) {
      const batch: NewEvent[] = [];
      for (const end = Math.min(events, made + eventsPerBatch); made < end; made += 1) {
        const { event, signsUp } = next(timeOf(made));
        batch.push(event);
        if (signsUp === undefined) continue;
        contacts.push(signsUp);
        await flight.add(async () => {
          await insist(() => store.createContact(newContact(asker, signsUp, event.eventTime)));
        });
      }
      await flight.add(() => keepAll(store, asker, timeOf(made), batch));
    }
    await flight.end();
    await settle();
    return { events, users: usersAmong(events), contacts, from, to };
  } finally {
    await store.close();
  }
};

/** Opens the database with this many events. */
export const openHistory = (events: number): Promise<Remembered<History>> =>
  remember(`${events}-events`, (path) => fill(path, events));

/** The first of the newest visitors, who send the new events, as on any day. */
export const firstUserOf = ({ about }: Remembered<History>): number => Math.max(0, about.users - 10_000);
