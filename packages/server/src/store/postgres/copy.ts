/**
 * Taking over all that another database holds. All but the events goes in with one transaction, which also notes that a
 * copy is under way; then events, so many in a transaction, each of which notes how far it is. One that was interrupted
 * goes on from there.
 */
import type pg from 'pg';
import { charactersOf } from '../attributes.ts';
import type { CopyProgress, HeldEvent, HeldTable, Holdings } from '../holdings.ts';
import { daysKept } from '../received-day.ts';
import { StoreUnusable } from '../unusable.ts';
import { openPlain, openPool } from './connection.ts';
import { columnsOf, rowsFor, tablesOf } from './copied-tables.ts';
import { type CopiedValue, copyRows } from './copying.ts';
import { monthSQL, repeatsSQL } from './days.ts';
import { toBodies } from './event-body.ts';
import { migrate } from './migrate.ts';

const eventsPerCommit = 50_000;
/** Of attributes: what goes in with a commit is held in memory until it does. */
const charactersPerCommit = 16 * 1024 * 1024;
/** The greatest number that was given to each, so that the next is greater. */
const numbersOf = ({ numbers }: Holdings) => [
  ["pg_get_serial_sequence('account', 'account')", 'SELECT max(account) FROM account'],
  ["pg_get_serial_sequence('token', 'token')", 'SELECT max(token) FROM token'],
  ["pg_get_serial_sequence('audit', 'audit')", 'SELECT max(audit) FROM audit'],
  ["'user_number'", 'SELECT max("user") FROM "user"'],
  ["'contact_number'", numbers.contact],
  ["'claim_number'", numbers.claim],
  ["'erasure_number'", 'SELECT max(erasure) FROM erasure'],
  ["'refused_number'", numbers.refused_request],
];

const daysIn = async (holdings: Holdings, table: HeldTable): Promise<Set<number>> => {
  const days = new Set<number>();
  for await (const rows of holdings.rows(table)) for (const { day } of rows) days.add(day as number);
  return days;
};

/** The latest days on which something was sent: as many as a repeat is looked for on. */
const keptDaysOf = async (holdings: Holdings): Promise<Set<number>> => {
  const days = new Set([holdings.position.day]);
  for (const table of ['event_repeat', 'event_repeat_of_either', 'erased_repeat', 'request_repeat'] as const) {
    for (const day of await daysIn(holdings, table)) days.add(day);
  }
  return new Set([...days].sort((a, b) => b - a).slice(0, daysKept));
};

const begin = async (client: pg.Client, holdings: Holdings): Promise<void> => {
  const { sequence, day, clockDay, secret } = holdings.position;
  if ((await client.query('SELECT 1 FROM account LIMIT 1')).rows.length > 0) {
    throw new StoreUnusable('the database to copy to has accounts already: give an empty one');
  }
  await client.query('BEGIN');
  await client.query('CREATE TABLE copying (source text NOT NULL, through bigint NOT NULL)');
  await client.query('INSERT INTO copying VALUES ($1, 0)', [sourceOf(holdings)]);
  await client.query('UPDATE position SET day = $1, "clockDay" = $2, secret = $3', [day, clockDay, secret]);
  const months = await daysIn(holdings, 'account_day');
  const kept = await keptDaysOf(holdings);
  for (const each of [...months, day]) await client.query(monthSQL(each));
  for (const each of kept) await client.query(repeatsSQL(each));
  // Keys of what was erased don't show whether they have a kind.
  const days = await Promise.all(
    (['event_repeat_of_either', 'erased_repeat'] as const).map((table) => daysIn(holdings, table)),
  );
  const ofEither = days.some(({ size }) => size > 0);
  await client.query('INSERT INTO kept_day (day, keyed, "ofEither") SELECT unnest($1::integer[]), true, $2', [
    [...kept],
    ofEither,
  ]);
  for (const table of await tablesOf(holdings, kept)) {
    await copyRows(client, table.to, columnsOf(table), rowsFor(table, holdings));
  }
  await client.query(
    `INSERT INTO contact_user SELECT DISTINCT contact, "user" FROM statement WHERE contact IS NOT NULL`,
  );
  for (const [name, greatest] of numbersOf(holdings)) {
    await client.query(`SELECT setval(${name}, greatest(coalesce((${greatest}), 0), 1))`);
  }
  await client.query('SELECT setval($1, $2)', ['event_order', sequence]);
  await client.query('COMMIT');
};

/** What tells a source from another, and from itself once it has changed. */
const sourceOf = ({ position: { sequence, day, secret } }: Holdings): string =>
  `${sequence} ${day} ${secret.toString('hex').slice(0, 16)}`;

const eventColumns = ['holder', 'sequence', 'user', 'eventTime', 'account', 'day', 'eventID', 'body'];

const toRow = (event: HeldEvent, body: Buffer): CopiedValue[] => {
  const { user, contact } = event;
  return [
    contact === null ? (user as number) : -contact,
    event.sequence,
    contact === null ? null : user,
    event.eventTime,
    event.account,
    event.day,
    event.eventID,
    body,
  ];
};

/** Notes in the same transaction that they are there, up to a sequence. */
const copyEvents = async (client: pg.Client, events: readonly HeldEvent[], through: number): Promise<void> => {
  await client.query('BEGIN');
  const bodies = toBodies(events);
  await copyRows(client, 'event', eventColumns, [events.map((event, nth) => toRow(event, bodies[nth] as Buffer))]);
  const both = events.filter(({ user, contact }) => user !== null && contact !== null);
  await client.query(
    `INSERT INTO user_contact ("user", contact) SELECT DISTINCT * FROM unnest($1::bigint[], $2::bigint[])
     ON CONFLICT DO NOTHING`,
    [both.map(({ user }) => user), both.map(({ contact }) => contact)],
  );
  await client.query('UPDATE copying SET through = $1', [through]);
  await client.query('COMMIT');
};

const prepare = async (databaseURL: string): Promise<void> => {
  const pool = openPool(databaseURL, 1);
  try {
    const db = await pool.take();
    await migrate(db).finally(() => db.release(false));
  } finally {
    await pool.close();
  }
};

/** Copies all that there is into an empty database, or goes on with a copy of the same that was interrupted. */
export const copyInto = async (
  databaseURL: string,
  holdings: Holdings,
  tell: (progress: CopyProgress) => void,
): Promise<void> => {
  await prepare(databaseURL);
  const client = await openPlain(databaseURL);
  try {
    const exists = (await client.query("SELECT to_regclass('copying') IS NOT NULL AS exists")).rows[0].exists;
    if (!exists) await begin(client, holdings);
    const { source, through } = (await client.query('SELECT source, through FROM copying')).rows[0];
    if (source !== sourceOf(holdings)) {
      throw new StoreUnusable(
        'another copy into this database is not complete, or its source has changed: give an empty one',
      );
    }
    const last = holdings.position.sequence;
    let waiting: HeldEvent[] = [];
    let characters = 0;
    let copied = 0;
    const flush = async () => {
      const end = waiting.at(-1);
      if (!end) return;
      await copyEvents(client, waiting, end.sequence);
      copied += waiting.length;
      tell({ sequence: end.sequence, last, events: copied });
      waiting = [];
      characters = 0;
    };
    for await (const events of holdings.eventsAfter(Number(through))) {
      waiting.push(...events);
      for (const event of events) characters += charactersOf(event);
      if (waiting.length >= eventsPerCommit || characters >= charactersPerCommit) await flush();
    }
    await flush();
    await client.query('DROP TABLE copying');
    await client.query('ANALYZE');
  } finally {
    await client.end();
  }
};
