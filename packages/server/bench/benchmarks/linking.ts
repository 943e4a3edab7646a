/**
 * Measures how long it takes to link a user with a long history. Times the Store's linkUser, including the commit,
 * alternately for the busiest user and for a user with ten events. The calls alternate between two contacts.
 */
import type { Store, StoreCaller } from '../../src/store/store.ts';
import { openBenchmark } from '../account.ts';
import type { Options, Row } from '../benchmark.ts';
import { withCopy } from '../cached-database.ts';
import { newContact, storeAll } from '../fill-store.ts';
import { openHistory } from '../history.ts';
import type { Latencies } from '../latencies.ts';
import { settle } from '../settle.ts';
import { ratio, whole } from '../table.ts';
import { timeAlternating } from '../timing.ts';
import {
  busiestUser,
  contactName,
  countBusiestEvents,
  createAttributes,
  createEventUUID,
  createRandom,
  userName,
} from '../visits.ts';

const newcomer = 900_000_000;
const people = [900_000_001, 900_000_002];

/** Creates a user with ten events, and two contacts to link to. */
const prepare = async (store: Store, caller: StoreCaller): Promise<void> => {
  const now = Date.now();
  const random = createRandom(now);
  const events = Array.from({ length: 10 }, (_, nth) => ({
    userUUID: userName(newcomer),
    contactUUID: null,
    eventID: 1,
    externalID: null,
    eventName: null,
    mayAddName: false,
    eventUUID: createEventUUID(now, nth),
    eventTime: now,
    timeReplaced: false,
    attributes: createAttributes(random),
  }));
  await storeAll(store, caller, now, events);
  for (const person of people) await store.createContact(newContact(caller, person, now));
};

export const run = async ({ quick, events }: Options): Promise<Row[]> => {
  const history = await openHistory(events);
  return withCopy(history, async (path) => {
    const { store, caller } = await openBenchmark(path);
    try {
      await prepare(store, caller);
      await settle();
      const rounds = quick ? 50 : 200;
      const links = Array.from({ length: 2 * rounds }, (_, nth) => ({
        userUUID: nth % 2 === 0 ? busiestUser : userName(newcomer),
        contactUUID: contactName(people[(nth >> 1) % 2] as number),
      }));
      const link = ({ userUUID, contactUUID }: (typeof links)[number]) =>
        store.linkUser({ account: caller.account, token: caller.token, userUUID, contactUUID, time: Date.now() });
      const [busiest, few] = (await timeAlternating(links, 2, link)) as [Latencies, Latencies];
      const row = (share: number, bar: string): Row => ({
        measured: `linking a user with ${whole(countBusiestEvents(events))} events vs. one with 10: ${share === 0.5 ? 'median' : 'p99'} ms`,
        floor: few.quantile(share).toFixed(2),
        ours: busiest.quantile(share).toFixed(2),
        ratio: ratio(busiest.quantile(share), few.quantile(share)),
        bar,
      });
      return [row(0.5, '< 1, ≤ 1.2 ×'), row(0.99, '')];
    } finally {
      await store.close();
    }
  });
};
