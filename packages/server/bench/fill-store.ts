/** Fills a store through its interface as fast as it accepts data. */
import { setTimeout as wait } from 'node:timers/promises';
import { Refusal } from '../src/shared/refusal.ts';
import type { NewContact, NewEvent, Store, StoreCaller } from '../src/store/store.ts';
import { contactAddress, contactName, userName } from './visits.ts';

export const eventsPerBatch = 1_000;
const maxInFlight = 4;

/** Retries a write that was refused as unavailable. */
export const retryUnavailable = async <Value>(write: () => Promise<Value>): Promise<Value> => {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'unavailable') throw error;
      await wait(20);
    }
  }
};

/** Limits the number of concurrent tasks. */
export const createLimiter = (max = maxInFlight) => {
  const inFlight = new Set<Promise<void>>();
  let failure: unknown;
  return {
    async add(work: () => Promise<void>): Promise<void> {
      while (inFlight.size >= max) await Promise.race(inFlight);
      if (failure) throw failure;
      const promise = work()
        .catch((error) => {
          failure = error;
        })
        .finally(() => inFlight.delete(promise));
      inFlight.add(promise);
    },
    async end(): Promise<void> {
      await Promise.all(inFlight);
      if (failure) throw failure;
    },
  };
};

/** Throws unless all events were stored. */
export const storeAll = async (
  store: Store,
  caller: StoreCaller,
  receivedTime: number,
  events: readonly NewEvent[],
): Promise<void> => {
  const outcomes = await retryUnavailable(() => store.logEvents({ ...caller, receivedTime, events }));
  const failure = outcomes.find(({ kept }) => !kept);
  if (failure) throw new Error(`an event was not stored: ${JSON.stringify(failure)}`);
};

/** A createContact request from a visitor who signs up. */
export const newContact = (caller: StoreCaller, user: number, time: number): NewContact => ({
  ...caller,
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
