// Tests that an acknowledged event is stored exactly once and recognized as a repeat, no matter what happens. Two
// processes write to the same file, and crash, fail, run maintenance, refuse, erase and delete in any order.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limits } from '@firsthand/contract/limits';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runs } from '../../../../test/fixtures/runs.ts';
import {
  accountContact,
  ann,
  ben,
  cleo,
  day,
  laptop,
  newAccount,
  newContact,
  newEvent,
  newToken,
  phone,
  quarter,
} from '../../../../test/fixtures/store.ts';
import type { EventOutcome } from '../../store.ts';
import type { Call } from '../calls.ts';
import { type Connection, openConnection } from '../database/connection.ts';
import { ensureFile } from '../database/file.ts';
import { createWriteEngine, type WriteEngine } from '../engine.ts';
import { eventsOf } from '../event-log/event-log.ts';
import type { Outcome } from '../transactions/transaction.ts';

const caller = { account: 1, token: 1, browser: false };
/**
 * The contacts that can be erased: two contacts with their own events, and the contact that is linked to the laptop.
 */
const contacts = { ann: 'contact-of-ann', ben: 'contact-of-ben', laptop: 'contact-of-cleo' };

/** Event subjects. */
const holders = {
  laptop: { userUUID: laptop },
  phone: { userUUID: phone },
  ann: { userUUID: null, contactUUID: contacts.ann },
  ben: { userUUID: null, contactUUID: contacts.ben },
} as const;
type HolderName = keyof typeof holders;
const holderNames = Object.keys(holders) as HolderName[];

interface Sent {
  readonly of: HolderName;
  readonly nth: number;
}
/** `days` is the number of days since the previous request. */
type Request = { readonly days: number } & (
  | { readonly do: 'log'; readonly events: readonly Sent[] }
  | { readonly do: 'refused' }
  | { readonly do: 'replay' }
  | { readonly do: 'erase'; readonly of: keyof typeof contacts }
  | { readonly do: 'retain'; readonly limit: number }
);
type Action =
  | { readonly do: 'commit'; readonly by: number; readonly requests: readonly Request[] }
  | { readonly do: 'maintain'; readonly by: number; readonly steps: number }
  | { readonly do: 'break'; readonly by: number; readonly fault: string }
  | { readonly do: 'crash'; readonly by: number };

const nameOf = ({ of, nth }: Sent) => `event-sent-${nth} of ${of}`;

/** Identifies a stored event by name and day, because after a week there can be another event with the same name. */
const entryOf = (name: string, today: number) => `${name} on ${today}`;

const by = fc.nat({ max: 1 });
/** Generates some events repeatedly, and some only once: without new events, no day would start. */
const nth = fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 100 }));
const sent = fc.record({ of: fc.constantFrom(...holderNames), nth });
const days = fc.constantFrom(...Array<number>(16).fill(0), 1, 1, 2, 7);
const request: fc.Arbitrary<Request> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('log'), days, events: fc.array(sent, { minLength: 1, maxLength: 12 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refused'), days }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('replay'), days }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase'), days, of: fc.constantFrom('ann', 'ben', 'laptop') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('retain'), days, limit: fc.integer({ min: 1, max: 20 }) }) },
);
const fault = fc.constantFrom(
  'INSERT ON event_block',
  'INSERT ON event_repeat',
  'INSERT ON recent_total',
  'UPDATE ON position',
  'no room',
);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('commit'),
      by,
      requests: fc.array(request, { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('maintain'), by, steps: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('break'), by, fault }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash'), by }) },
);

/** Creates a request that is refused because of its profile, after the search for repeats. */
const toRefusedOutcome = (time: number) => ({
  ...newContact({ userUUID: laptop, fields: { contactProfileID: 'staff' }, requestUUID: 'request-sent-twice', time }),
  ...{ ...caller, browser: true, verified: false },
});

const toCall = (request: Request, today: number): Call => {
  const time = today * day;
  switch (request.do) {
    case 'log': {
      const events = request.events.map(({ of, nth }) =>
        newEvent({
          ...holders[of],
          eventID: 1 + (nth % 2),
          eventUUID: `event-sent-${nth}`,
          eventTime: nth * quarter,
          attributes: [['name', nameOf({ of, nth })]],
        }),
      );
      return { name: 'logEvents', request: { ...caller, receivedTime: time, events } };
    }
    case 'refused':
      return { name: 'createContact', request: toRefusedOutcome(time) };
    case 'replay':
      return {
        name: 'replayRefused',
        request: { refused: 1, write: 'createContact', request: toRefusedOutcome(time) },
      };
    case 'erase':
      return { name: 'eraseContact', request: { account: 1, contactUUID: contacts[request.of], time } };
    case 'retain':
      return { name: 'deleteEventsBefore', request: { time: Infinity, limit: request.limit } };
  }
};

const eventsIn = (db: Connection): string[] =>
  db
    .prepare<[], string>('SELECT events FROM event_block ORDER BY through')
    .pluck()
    .all()
    .flatMap((events) => eventsOf(JSON.parse(events)))
    .map(({ attributes, day }) => entryOf(attributes[0]?.[1] as string, day));

const sumsIn = (db: Connection) =>
  db
    .prepare(`
      SELECT (SELECT coalesce(sum(count), 0) FROM event_total) + (SELECT coalesce(sum(count), 0) FROM recent_total) AS kinds,
        (SELECT coalesce(sum(count), 0) FROM account_day) AS days`)
    .get();

let folder: string;
let original: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  original = join(folder, 'original.db');
  ensureFile(original);
  const db = openConnection(original, 'write');
  const accountContacts = [
    { address: ann, newContactUUID: contacts.ann },
    { address: ben, newContactUUID: contacts.ben },
  ].map(({ address, newContactUUID }) => accountContact({ address, newContactUUID }));
  const account = newAccount({
    catalogues: { profile: [{ id: 'staff', browser: false }] },
    tokens: [newToken('server')],
    contacts: accountContacts,
  });
  const cleoOnLaptop = newContact({ userUUID: laptop, address: cleo, newContactUUID: contacts.laptop, time: 0 });
  const refused = { operation: 'createContact', input: {}, code: 'id_not_for_browser', message: '', address: null };
  const outcomes = createWriteEngine(db).write([
    { name: 'createAccount', request: account },
    { name: 'createContact', request: { ...cleoOnLaptop, ...caller, verified: true } },
    { name: 'addRefused', request: { account: 1, token: 1, time: 0, sender: 0, requests: [refused] } },
  ]);
  for (const outcome of outcomes) expect(outcome).toHaveProperty('value');
  db.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A server that uses the file and can restart at any time. */
const openServer = (path: string) => {
  const db = openConnection(path, 'write');
  // Does not sync, because other tests cover power failures.
  db.pragma('synchronous = OFF');
  let engine: WriteEngine;
  let isBroken = false;
  const restart = () => {
    engine = createWriteEngine(db, { eventsPerCompaction: 72, eventsPerMove: 20, eventsPerSegment: 100 });
  };
  const repair = () => {
    db.exec('DROP TRIGGER IF EXISTS fault');
    db.pragma('max_page_count = 1000000');
    isBroken = false;
  };
  restart();
  return {
    db,
    restart,
    break(fault: string) {
      repair();
      isBroken = true;
      if (fault === 'no room') db.pragma(`max_page_count = ${db.pragma('page_count', { simple: true })}`);
      else db.exec(`CREATE TEMP TRIGGER fault BEFORE ${fault} BEGIN SELECT RAISE(ABORT, 'broken'); END`);
    },
    write(calls: readonly Call[]): Outcome[] {
      const outcomes = engine.write(calls);
      repair();
      return outcomes;
    },
    maintain(steps: number) {
      try {
        for (let step = 0; step < steps && engine.maintain() === 0; step += 1);
      } catch (error) {
        if (!isBroken) throw error;
      }
      repair();
    },
  };
};

type Server = ReturnType<typeof openServer>;

/** Models the events that must be stored. */
const createModel = () => {
  /** The day on which each event was last stored, even if it was deleted. */
  const storedOn = new Map<string, number>();
  const erased = new Set<string>();
  /** The events that can be deleted at any time. */
  const erasing = new Set<string>();
  let present: string[] = [];

  const followLog = (events: readonly Sent[], today: number, outcomes: readonly EventOutcome[]) => {
    outcomes.forEach((outcome, index) => {
      const { of } = events[index] as Sent;
      const name = nameOf(events[index] as Sent);
      const before = storedOn.get(name);
      if (outcome.kept) {
        expect(before === undefined || today - before > limits.repeatDays, `${name} is stored twice`).toBe(true);
        storedOn.set(name, today);
        present.push(entryOf(name, today));
      } else if ('duplicate' in outcome) expect(before, `${name} is called a duplicate`).toBeDefined();
      else expect(of !== 'laptop' && erased.has(of), `${name} is refused`).toBe(true);
    });
  };

  return {
    follow(request: Request, today: number, outcome: Outcome) {
      if (!('value' in outcome)) return;
      if (request.do === 'log') followLog(request.events, today, outcome.value as EventOutcome[]);
      if (request.do === 'erase') {
        erased.add(request.of);
        for (const entry of present) if (entry.includes(` of ${request.of} `)) erasing.add(entry);
      }
      if (request.do === 'retain') present.splice(0, outcome.value as number);
    },
    /** Compares all events except erased ones, which might be deleted by now. */
    compare(events: string[]) {
      const withoutErased = (entries: string[]) => entries.filter((entry) => !erasing.has(entry));
      expect(withoutErased(events)).toEqual(withoutErased(present));
      present = events;
    },
  };
};

test('stores an acknowledged event once, and recognizes its repeats for a week', () => {
  let files = 0;
  fc.assert(
    fc.property(fc.array(action, { minLength: 5, maxLength: 40, size: 'max' }), (actions) => {
      files += 1;
      const path = join(folder, `${files}.db`);
      copyFileSync(original, path);
      const servers = [openServer(path), openServer(path)];
      const model = createModel();
      let today = 30;
      for (const action of actions) {
        const server = servers[action.by] as Server;
        if (action.do === 'crash') server.restart();
        if (action.do === 'break') server.break(action.fault);
        if (action.do === 'maintain') server.maintain(action.steps);
        if (action.do === 'commit') {
          const days = action.requests.map(({ days }) => (today += days));
          const outcomes = server.write(action.requests.map((request, nth) => toCall(request, days[nth] as number)));
          action.requests.forEach((request, nth) => {
            model.follow(request, days[nth] as number, outcomes[nth] as Outcome);
          });
        }
        const events = eventsIn(server.db);
        model.compare(events);
        expect(sumsIn(server.db)).toEqual({ kinds: events.length, days: events.length });
      }
      for (const { db } of servers) db.close();
      rmSync(path);
    }),
    { numRuns: runs(15, 30) },
  );
});
