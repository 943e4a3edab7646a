/** Fills a store through its interface, as fast as it accepts data. */
import { setTimeout as wait } from 'node:timers/promises';
import { Refusal } from '../src/shared/refusal.ts';
import type { Asker, NewContact, NewEvent, Store } from '../src/store/store.ts';
import { contactAddress, contactName, userName } from './visits.ts';

export const eventsPerBatch = 1_000;
const maxInFlight = 4;

/** Repeats a write for which there was no room. */
export const insist = async <Value>(ask: () => Promise<Value>): Promise<Value> => {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'unavailable') throw error;
      await wait(20);
    }
  }
};

/** Runs a few promises at once. */
export const createFlight = (most = maxInFlight) => {
  const underWay = new Set<Promise<void>>();
  let failure: unknown;
  return {
    async add(work: () => Promise<void>): Promise<void> {
      while (underWay.size >= most) await Promise.race(underWay);
      if (failure) throw failure;
      const promise = work()
        .catch((error) => {
          failure = error;
        })
        .finally(() => underWay.delete(promise));
      underWay.add(promise);
    },
    async end(): Promise<void> {
      await Promise.all(underWay);
      if (failure) throw failure;
    },
  };
};

/** Throws unless all events were stored. */
export const keepAll = async (
  store: Store,
  asker: Asker,
  receivedTime: number,
  events: readonly NewEvent[],
): Promise<void> => {
  const outcomes = await insist(() => store.logEvents({ ...asker, receivedTime, events }));
  const lost = outcomes.find(({ kept }) => !kept);
  if (lost) throw new Error(`an event was not kept: ${JSON.stringify(lost)}`);
};

/** The createContact request of a visitor who signs up. */
export const newContact = (asker: Asker, user: number, time: number): NewContact => ({
  ...asker,
  userUUID: userName(user),
  address: contactAddress(user),
  fields: { contactFirstname: 'Visitor', contactLastname: String(user) },
  tags: [],
  attributes: [],
  verified: true,
  requestUUID: null,
  newContactUUID: contactName(user),
  newHandle: contactName(user),
  time,
});
