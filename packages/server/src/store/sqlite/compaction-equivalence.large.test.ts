// Tests that compaction and indexing don't change any response. Two databases store the same history: one is constantly
// compacted and indexed, in segments of a few events; the other hardly ever.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../test/fixtures/runs.ts';
import { smallSegments } from '../../../test/fixtures/small-segments.ts';
import {
  ann,
  ben,
  day,
  laptop,
  newAccount,
  newEvent,
  newToken,
  phone,
  quarter,
  tablet,
} from '../../../test/fixtures/store.ts';
import type { EventPage, EventQuery } from '../store.ts';
import type { Call } from './calls.ts';
import type { Connection } from './database/connection.ts';
import { openMemory } from './database/memory.ts';
import { createReadEngine, createWriteEngine } from './engine.ts';
import { createEventPager } from './events/event-pages.ts';
import type { Tuning } from './tuning.ts';

const caller = { account: 1, token: 1, browser: false };
const users = [laptop, phone, tablet];
const contacts = ['contact-of-ann', 'contact-of-ben'];
const addresses = [ann, ben];

const user = fc.nat({ max: 2 });
const contact = fc.nat({ max: 1 });
const attributes = fc.constantFrom<[string, string][]>(
  [],
  [['path', '/']],
  [['path', '/a']],
  [
    ['path', '/'],
    ['campaign', 'spring'],
  ],
);
const event = fc.record({
  user,
  contact: fc.option(contact, { freq: 5 }),
  eventID: fc.integer({ min: 1, max: 3 }),
  attributes,
});

type Step =
  | {
      do: 'log';
      days: number;
      events: { user: number; contact: number | null; eventID: number; attributes: [string, string][] }[];
    }
  | { do: 'create'; user: number; contact: number }
  | { do: 'unlink'; user: number }
  | { do: 'erase'; contact: number }
  | { do: 'retain'; limit: number }
  | { do: 'arrange'; steps: number }
  | { do: 'read' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('log' as const),
      days: fc.nat({ max: 1 }),
      events: fc.array(event, { minLength: 20, maxLength: 90, size: 'max' }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('create' as const), user, contact }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unlink' as const), user }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase' as const), contact }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('retain' as const), limit: fc.integer({ min: 1, max: 300 }) }) },
  { weight: 2, arbitrary: fc.constant({ do: 'read' as const }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('arrange' as const), steps: fc.integer({ min: 1, max: 60 }) }) },
);

const openEngine = (tuning: Tuning) => {
  const db = openMemory();
  const engine = createWriteEngine(db, tuning);
  engine.write([{ name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) }]);
  return { db, engine, read: createReadEngine(db) };
};

/** Returns the calls of a history, so that both databases receive identical calls. */
const callsOf = (steps: readonly Step[]): (Call | { arrange: number } | 'read')[] => {
  let eventCount = 0;
  let today = 0;
  const callOf = (step: Step): Call | { arrange: number } | 'read' => {
    switch (step.do) {
      case 'log': {
        today += step.days;
        const events = step.events.map(({ user, contact, eventID, attributes }) => {
          eventCount += 1;
          return newEvent({
            userUUID: contact !== null && eventCount % 2 ? null : (users[user] as string),
            contactUUID: contact === null ? null : (contacts[contact] as string),
            eventID,
            eventUUID: `event-${eventCount}`,
            eventTime: today * day + (eventCount % 7) * 1_000_000,
            timeReplaced: eventCount % 5 === 0,
            attributes,
          });
        });
        return { name: 'logEvents', request: { ...caller, receivedTime: today * day + eventCount, events } };
      }
      case 'create':
        return {
          name: 'createContact',
          request: {
            ...caller,
            userUUID: users[step.user],
            address: addresses[step.contact],
            fields: {},
            tags: [],
            attributes: [],
            verified: true,
            requestUUID: null,
            newContactUUID: contacts[step.contact],
            newHandle: `handle-${eventCount}`,
            time: today * day,
          },
        };
      case 'unlink':
        return { name: 'unlinkUser', request: { account: 1, token: 1, userUUID: users[step.user], time: 0 } };
      case 'erase':
        return { name: 'eraseContact', request: { account: 1, contactUUID: contacts[step.contact], time: 0 } };
      case 'retain':
        return { name: 'deleteEventsBefore', request: { time: (today - 1) * day, limit: step.limit } };
      case 'read':
        return 'read';
      case 'arrange':
        return { arrange: step.steps };
    }
  };
  return steps.map(callOf);
};

const queries: Omit<EventQuery, 'order' | 'limit'>[] = [
  { account: 1 },
  ...users.map((userUUID) => ({ account: 1, userUUID })),
  ...contacts.map((contactUUID) => ({ account: 1, contactUUID })),
  { account: 1, userUUID: laptop, contactUUID: contacts[0] },
  { account: 1, eventID: 2 },
  { account: 1, eventID: 2, from: day, to: 3 * day },
  { account: 1, attrID: 'path', attrValue: '/a' },
  { account: 1, attrID: 'campaign', from: day, to: 5 * day },
  { account: 1, attrID: 'campaign', attrValue: 'autumn' },
  { account: 1, eventID: 3, attrID: 'path', attrValue: '/' },
  { account: 1, userUUID: phone, attrID: 'path', attrValue: '/a', from: 2 * day },
];

/** Creates a reader of small pages, so that some pages start in the middle of a block. */
const createPager = (db: Connection) => createEventPager(db, { bounds: { maxExamined: 300, maxCharacters: 100 } });

/** Reads all pages, each in its own transaction. */
const pagesOf = (getEvents: ReturnType<typeof createPager>, query: Omit<EventQuery, 'limit'>) => {
  const events: EventPage['events'][number][] = [];
  let beyond: number | undefined;
  for (;;) {
    const steps = getEvents({ ...query, limit: 37, beyond });
    let step = steps.next();
    while (!step.done) step = steps.next();
    events.push(...step.value.events);
    if (step.value.next === null) return events;
    beyond = step.value.next;
  }
};

const allPages = (getEvents: ReturnType<typeof createPager>) =>
  queries.flatMap((query) =>
    (['asc', 'desc'] as const).map((order) => {
      try {
        return pagesOf(getEvents, { ...query, order });
      } catch (error) {
        return (error as { code: string }).code;
      }
    }),
  );

const answersOf = async ({ db, read }: ReturnType<typeof openEngine>) => {
  const pages = allPages(createPager(db));
  const spans = [
    [0, day, 2 * day, 40 * day],
    [day + quarter, day + 2 * quarter, 3 * day + 4 * quarter],
  ];
  const counts = await Promise.all(
    spans.flatMap((edges) =>
      [undefined, 2, 3].map((eventID) =>
        read({ name: 'countEvents', request: { account: 1, eventID, edges, users: true } }),
      ),
    ),
  );
  return { pages, counts, definitions: await read({ name: 'getEventDefinitions', request: 1 }) };
};

/** A history that is certain to fill segments. */
const filling: Step[] = Array.from({ length: 12 }, (_, nth) =>
  nth % 2
    ? { do: 'arrange', steps: 60 }
    : {
        do: 'log',
        days: 1,
        events: Array.from({ length: 60 }, (_, nth) => ({ user: nth % 3, contact: null, eventID: 1, attributes: [] })),
      },
);

test('returns the same results, no matter where events are stored', async () => {
  let segments = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 50, size: 'max' }), async (steps) => {
      const arranged = openEngine(smallSegments);
      const plain = openEngine({ eventsPerSegment: Infinity });
      // Long-lived readers, which cache the tail from their previous read.
      const readers = [arranged, plain].map(({ db }) => createPager(db));
      for (const call of callsOf(steps)) {
        if (call === 'read') {
          const [some, others] = readers.map(allPages);
          expect(some).toEqual(others);
          continue;
        }
        if ('arrange' in call) {
          for (let step = 0; step < call.arrange; step += 1) arranged.engine.maintain();
          continue;
        }
        const answers = [arranged, plain].map(({ engine }) => engine.write([call])[0]);
        expect(answers[0]).toEqual(answers[1]);
        // Finishes the erasure in both databases, because retention counts deleted events.
        if (call.name === 'eraseContact') for (const { engine } of [arranged, plain]) while (engine.maintain() === 0);
      }
      while (arranged.engine.maintain() !== null);
      segments += arranged.db.prepare('SELECT count(*) FROM event_segment').pluck().get() as number;
      expect(await answersOf(arranged)).toEqual(await answersOf(plain));
      const rows = ({ db }: typeof plain) => db.prepare('SELECT * FROM event ORDER BY sequence').all();
      expect(rows(arranged)).toEqual(rows(plain));
      for (const { db } of [arranged, plain]) db.close();
    }),
    { numRuns: runs(5, 15), examples: [[filling]] },
  );
  expect(segments).toBeGreaterThan(0);
});

test.each([25, 249, 1_000])(
  'limits unindexed events during continuous writes of %d events per commit',
  (perCommit) => {
    const eventsPerSegment = 4_096;
    const { db, engine } = openEngine({ eventsPerSegment });
    const waiting = db
      .prepare<[], number>('SELECT sum(count) FROM event_block WHERE through > (SELECT indexed FROM position)')
      .pluck();
    let maxWaiting = 0;
    for (let sent = 0; sent < 40_000; sent += perCommit) {
      const events = Array.from({ length: perCommit }, (_, nth) =>
        newEvent({
          eventUUID: `event-${sent + nth}`.padEnd(20, '0'),
          userUUID: `user-${(sent + nth) % 20_000}`.padEnd(20, '0'),
          attributes: [
            ['path', `/products/${nth % 500}`],
            ['referrer', 'https://search.example/'],
          ],
        }),
      );
      engine.write([{ name: 'logEvents', request: { ...caller, receivedTime: sent, events } }]);
      engine.catchUp();
      maxWaiting = Math.max(maxWaiting, waiting.get() ?? 0);
    }
    expect(maxWaiting).toBeGreaterThan(3 * eventsPerSegment);
    expect(maxWaiting).toBeLessThan(6 * eventsPerSegment);
    db.close();
  },
  60_000,
);
