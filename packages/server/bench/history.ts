/**
 * A month of history to measure over, that ends today: built through the Store, so that it doesn't care how that keeps it.
 * `npm run bench -- reads --events 50000000` asks for as much as there is patience for.
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
  /** Visitors are numbered from 0, the later ones came later. */
  readonly users: number;
  /** Those who said who they are. */
  readonly contacts: readonly number[];
  /** When its first event happened, and when its last one. */
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

/** The database with so many events. */
export const openHistory = (events: number): Promise<Remembered<History>> =>
  remember(`${events}-events`, (path) => fill(path, events));

/** New events are of those who came last, as on any day: the first of them. */
export const firstUserOf = ({ about }: Remembered<History>): number => Math.max(0, about.users - 10_000);
