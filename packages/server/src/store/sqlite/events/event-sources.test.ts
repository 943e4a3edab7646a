// Tests that results are the same whether or not a user's active days are recorded: they only narrow a search.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../test/fixtures/runs.ts';
import {
  ann,
  day,
  laptop,
  newAccount,
  newContact,
  newEvent,
  newToken,
  phone,
} from '../../../../test/fixtures/store.ts';
import type { EventOutcome, EventQuery } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { openMemory } from '../database/memory.ts';
import { createWriteEngine } from '../engine.ts';
import { createEventPager } from './event-pages.ts';

const caller = { account: 1, token: 1, browser: false };
const users = [laptop, phone];
const contactUUID = 'contact-of-ann';

/**
 * Generates the users who visit on a day, and whether events are logged with the contact, with or without a user. Most
 * days have no events.
 */
const visits = fc.array(
  fc.record({
    later: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 6 }) }, fc.constant(60)),
    users: fc.subarray(users),
    contact: fc.boolean(),
    both: fc.boolean(),
    unrecorded: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.boolean()),
  }),
  { minLength: 3, maxLength: 25 },
);

const openEngine = (db: Connection) => {
  const engine = createWriteEngine(db, { eventsPerSegment: 20 });
  return {
    write: (name: string, request: object) => {
      const [outcome] = engine.write([{ name, request }]);
      if (!outcome || 'error' in outcome) throw outcome?.error;
      return outcome.value;
    },
    arrange: () => {
      while (engine.maintain() !== null);
    },
  };
};

const forgetDays = (db: Connection) => db.exec('UPDATE user SET days = 0; UPDATE contact SET days = 0');

const namesOf = (db: Connection, maxBetween: number, query: Partial<EventQuery>): string[] => {
  const getEvents = createEventPager(db, { maxBetween });
  const names: string[] = [];
  let beyond: number | undefined;
  for (;;) {
    const steps = getEvents({ account: 1, order: 'desc', limit: 3, beyond, ...query });
    let step = steps.next();
    while (!step.done) step = steps.next();
    names.push(...step.value.events.map(({ eventUUID }) => eventUUID));
    if (step.value.next === null) return names;
    beyond = step.value.next;
  }
};

test('returns the same pages and repeats with and without recorded active days', () => {
  fc.assert(
    fc.property(visits, (visits) => {
      const db = openMemory();
      const { write, arrange } = openEngine(db);
      const log = (receivedTime: number, events: object[]) =>
        write('logEvents', { ...caller, receivedTime, events }) as EventOutcome[];
      write('createAccount', newAccount({ tokens: [newToken('server')] }));
      write('createContact', {
        ...caller,
        verified: true,
        ...newContact({ newContactUUID: contactUUID, address: ann }),
      });
      let today = 20_000;
      const stored: { day: number; eventUUID: string; userUUID: string | null; contactUUID: string | null }[] = [];
      for (const { later, users, contact, both, unrecorded } of visits) {
        today += later;
        if (unrecorded) forgetDays(db);
        // Logs events of other users, which fill the segments in between.
        const others = Array.from({ length: 15 }, (_, nth) => newEvent({ userUUID: `another-${today}-${nth}` }));
        const eventTime = today * day;
        const events = users.map((userUUID) => newEvent({ userUUID, eventTime }));
        if (contact) events.push(newEvent({ userUUID: null, contactUUID, eventTime }));
        if (both) events.push(newEvent({ userUUID: laptop, contactUUID, eventTime }));
        log(today * day, [...others, ...events]);
        for (const { eventUUID, userUUID, contactUUID } of events) {
          stored.push({ day: today, eventUUID, userUUID, contactUUID });
        }
        // Each of these events is a repeat, because it is sent again within seven days.
        const again = stored
          .filter((each) => each.day >= today - 7)
          .map(({ eventUUID, userUUID, contactUUID }) => newEvent({ eventUUID, userUUID, contactUUID }));
        for (const outcome of log(today * day, again)) expect(outcome).toEqual({ kept: false, duplicate: true });
        arrange();
      }
      const ofUser = (user: string) => stored.filter(({ userUUID }) => userUUID === user);
      const ofContact = stored.filter(({ userUUID, contactUUID }) => userUUID === laptop || contactUUID !== null);
      const expectPages = (maxBetween: number) => {
        for (const order of ['asc', 'desc'] as const) {
          const inOrder = (some: typeof stored) => {
            const names = some.map(({ eventUUID }) => eventUUID);
            return order === 'asc' ? names : names.reverse();
          };
          for (const userUUID of users)
            expect(namesOf(db, maxBetween, { order, userUUID })).toEqual(inOrder(ofUser(userUUID)));
          expect(namesOf(db, maxBetween, { order, contactUUID })).toEqual(inOrder(ofContact));
          const early = ofContact.filter((each) => each.day < 20_030);
          expect(namesOf(db, maxBetween, { order, contactUUID, to: 20_030 * day })).toEqual(inOrder(early));
        }
      };
      // Reads each run of days as a separate range, and then with some of them joined.
      for (const maxBetween of [0, 40]) expectPages(maxBetween);
      forgetDays(db);
      expectPages(0);
      db.close();
    }),
    { numRuns: runs(10, 30) },
  );
});
