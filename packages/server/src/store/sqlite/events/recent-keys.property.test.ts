// Whatever happens to a database, an event that was answered is there once, and known as sent: two processes write the same file,
// and end, fail, tidy up, refuse, erase and delete in any order.
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

const asker = { account: 1, token: 1, browser: false };
/** Who can be erased: two that are logged against themselves, and whoever has the laptop. */
const contacts = { ann: 'contact-of-ann', ben: 'contact-of-ben', laptop: 'contact-of-cleo' };

/** By whom an event is sent. */
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
/** `days`: after the one before. */
type Request = { readonly days: number } & (
  | { readonly do: 'log'; readonly events: readonly Sent[] }
  | { readonly do: 'refused' }
  | { readonly do: 'replay' }
  | { readonly do: 'erase'; readonly of: keyof typeof contacts }
  | { readonly do: 'retain'; readonly most: number }
);
type Action =
  | { readonly do: 'commit'; readonly by: number; readonly requests: readonly Request[] }
  | { readonly do: 'tidy'; readonly by: number; readonly steps: number }
  | { readonly do: 'break'; readonly by: number; readonly fault: string }
  | { readonly do: 'crash'; readonly by: number };

const nameOf = ({ of, nth }: Sent) => `event-sent-${nth} of ${of}`;

/** An event that was kept: after a week, there may be another of its name. */
const entryOf = (name: string, today: number) => `${name} on ${today}`;

const by = fc.nat({ max: 1 });
/** Some are sent again and again; without new ones no day would begin. */
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
  { weight: 1, arbitrary: fc.record({ do: fc.constant('retain'), days, most: fc.integer({ min: 1, max: 20 }) }) },
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
  { weight: 4, arbitrary: fc.record({ do: fc.constant('tidy'), by, steps: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('break'), by, fault }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash'), by }) },
);

/** Refused for what it says of a browser's user, after it was looked for what that user has sent. */
const refusedContact = (time: number) => ({
  ...newContact({ userUUID: laptop, fields: { contactProfileID: 'staff' }, requestUUID: 'request-sent-twice', time }),
  ...{ ...asker, browser: true, verified: false },
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
      return { name: 'logEvents', request: { ...asker, receivedTime: time, events } };
    }
    case 'refused':
      return { name: 'createContact', request: refusedContact(time) };
    case 'replay':
      return {
        name: 'replayRefused',
        request: { refused: 1, write: 'createContact', request: refusedContact(time) },
      };
    case 'erase':
      return { name: 'eraseContact', request: { account: 1, contactUUID: contacts[request.of], time } };
    case 'retain':
      return { name: 'deleteEventsBefore', request: { time: Infinity, most: request.most } };
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
    { name: 'createContact', request: { ...cleoOnLaptop, ...asker, verified: true } },
    { name: 'keepRefused', request: { account: 1, token: 1, time: 0, sender: 0, requests: [refused] } },
  ]);
  for (const outcome of outcomes) expect(outcome).toHaveProperty('value');
  db.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A server over the file, that may end at any moment and begin anew. */
const openServer = (path: string) => {
  const db = openConnection(path, 'write');
  // What a power cut does to a file is tried elsewhere.
  db.pragma('synchronous = OFF');
  let engine: WriteEngine;
  let isBroken = false;
  const begin = () => {
    engine = createWriteEngine(db, { eventsPerCompaction: 72, eventsPerMove: 20, eventsPerSegment: 100 });
  };
  const mend = () => {
    db.exec('DROP TRIGGER IF EXISTS fault');
    db.pragma('max_page_count = 1000000');
    isBroken = false;
  };
  begin();
  return {
    db,
    begin,
    break(fault: string) {
      mend();
      isBroken = true;
      if (fault === 'no room') db.pragma(`max_page_count = ${db.pragma('page_count', { simple: true })}`);
      else db.exec(`CREATE TEMP TRIGGER fault BEFORE ${fault} BEGIN SELECT RAISE(ABORT, 'broken'); END`);
    },
    write(calls: readonly Call[]): Outcome[] {
      const outcomes = engine.write(calls);
      mend();
      return outcomes;
    },
    tidy(steps: number) {
      try {
        for (let step = 0; step < steps && engine.maintain() === 0; step += 1);
      } catch (error) {
        if (!isBroken) throw error;
      }
      mend();
    },
  };
};

type Server = ReturnType<typeof openServer>;

/** What is to be kept of all that was answered. */
const createModel = () => {
  /** On which day an event was kept last, whether or not it was deleted. */
  const keptOn = new Map<string, number>();
  const erased = new Set<string>();
  /** What may be deleted at any time. */
  const going = new Set<string>();
  let present: string[] = [];

  const followLog = (events: readonly Sent[], today: number, outcomes: readonly EventOutcome[]) => {
    outcomes.forEach((outcome, index) => {
      const { of } = events[index] as Sent;
      const name = nameOf(events[index] as Sent);
      const before = keptOn.get(name);
      if (outcome.kept) {
        expect(before === undefined || today - before > limits.repeatDays, `${name} is kept twice`).toBe(true);
        keptOn.set(name, today);
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
        for (const entry of present) if (entry.includes(` of ${request.of} `)) going.add(entry);
      }
      if (request.do === 'retain') present.splice(0, outcome.value as number);
    },
    /** What was erased may be deleted by now, and nothing else. */
    compare(found: string[]) {
      const staying = (entries: string[]) => entries.filter((entry) => !going.has(entry));
      expect(staying(found)).toEqual(staying(present));
      present = found;
    },
  };
};

test('an event that was answered is kept once, and known as sent for a week', () => {
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
        if (action.do === 'crash') server.begin();
        if (action.do === 'break') server.break(action.fault);
        if (action.do === 'tidy') server.tidy(action.steps);
        if (action.do === 'commit') {
          const days = action.requests.map(({ days }) => (today += days));
          const outcomes = server.write(action.requests.map((request, nth) => toCall(request, days[nth] as number)));
          action.requests.forEach((request, nth) => {
            model.follow(request, days[nth] as number, outcomes[nth] as Outcome);
          });
        }
        const found = eventsIn(server.db);
        model.compare(found);
        expect(sumsIn(server.db)).toEqual({ kinds: found.length, days: found.length });
      }
      for (const { db } of servers) db.close();
      rmSync(path);
    }),
    { numRuns: runs(15, 30) },
  );
});
