/**
 * Copies another database into this one. The first transaction copies everything except events. Each later transaction
 * copies some events and records its progress, from which an interrupted copy resumes.
 */
import type pg from 'pg';
import type { DatabaseExport, ExportedTable, OnProgress } from '../../database-export.ts';
import { charactersOf, type EventRow } from '../../rules/event-row.ts';
import { dedupDays } from '../../rules/received-day.ts';
import { StoreUnusable } from '../../unusable.ts';
import { requireSafeWorkers } from '../database/citus.ts';
import { openCopyConnection, runOnConnection, takeSlot } from '../database/connection.ts';
import { migrate } from '../database/migrate.ts';
import { monthSQL, repeatsSQL } from '../days/partitions.ts';
import { toBodies } from '../events/event-body.ts';
import { copyTable, tablesOf } from './copied-tables.ts';
import { type CopiedValue, copyRows } from './copy-rows.ts';

const eventsPerCommit = 50_000;
/** The maximum size of attributes per commit, in UTF-16 code units. They are in memory until the commit. */
const charactersPerCommit = 16 * 1024 * 1024;

/** For each PostgreSQL sequence, the highest number used so far. */
const numbersOf = ({ numbers }: DatabaseExport) => [
  ["pg_get_serial_sequence('account', 'account')", 'SELECT max(account) FROM account'],
  ["pg_get_serial_sequence('token', 'token')", 'SELECT max(token) FROM token'],
  ["pg_get_serial_sequence('audit', 'audit')", 'SELECT max(audit) FROM audit'],
  ["'user_number'", 'SELECT max("user") FROM "user"'],
  ["'contact_number'", numbers.contact],
  ["'claim_number'", numbers.claim],
  ["'erasure_number'", 'SELECT max(erasure) FROM erasure'],
  ["'refused_number'", numbers.refused_request],
];

const daysIn = async (exported: DatabaseExport, table: ExportedTable): Promise<Set<number>> => {
  const days = new Set<number>();
  for await (const rows of exported.rows(table)) for (const { day } of rows) days.add(day as number);
  return days;
};

const begin = async (client: pg.Client, exported: DatabaseExport): Promise<void> => {
  const { sequence, day, clockDay, secret } = exported.position;
  if ((await client.query('SELECT 1 FROM account LIMIT 1')).rows.length > 0) {
    throw new StoreUnusable('the destination database already has accounts: use an empty database');
  }
  await client.query('BEGIN');
  await client.query('CREATE TABLE copying (source text NOT NULL, through bigint NOT NULL)');
  await client.query('INSERT INTO copying VALUES ($1, 0)', [sourceOf(exported)]);
  await client.query('UPDATE position SET secret = $1', [secret]);
  const months = await daysIn(exported, 'account_day');
  const [named, ofEither, erased, requests] = await Promise.all([
    daysIn(exported, 'event_repeat'),
    daysIn(exported, 'event_repeat_of_either'),
    daysIn(exported, 'erased_repeat'),
    daysIn(exported, 'request_repeat'),
  ]);
  // The days that are searched for repeats.
  const repeatDays = [...new Set([day, ...named, ...ofEither, ...erased, ...requests])]
    .sort((a, b) => b - a)
    .slice(0, dedupDays);
  for (const each of [...months, day]) await client.query(monthSQL(each));
  for (const each of repeatDays) await client.query(repeatsSQL(each));
  // Includes erased repeats, because their keys may or may not include the token kind.
  const withEither = ofEither.size + erased.size > 0;
  await client.query('INSERT INTO kept_day (day, keyed, "ofEither") SELECT unnest($1::integer[]), true, $2', [
    repeatDays,
    withEither,
  ]);
  for (const table of await tablesOf(exported, new Set(repeatDays))) await copyTable(client, table, exported);
  await client.query(
    `INSERT INTO contact_user (account, contact, "user")
     SELECT DISTINCT account, contact, "user" FROM statement WHERE contact IS NOT NULL`,
  );
  // Deletes the rows that triggers have inserted. On a cluster, the workers numbered these rows, and later changes
  // would get lower numbers.
  await client.query('DELETE FROM owner_change');
  for (const [name, greatest] of numbersOf(exported)) {
    await client.query(`SELECT setval(${name}, greatest(coalesce((${greatest}), 0), 1))`);
  }
  await client.query('UPDATE account_position SET day = $1, "clockDay" = $2', [day, clockDay]);
  await client.query('SELECT setval($1, $2)', ['event_order', sequence]);
  await client.query('COMMIT');
};

/** Returns a string that identifies a source and its state. */
const sourceOf = ({ position: { sequence, day, secret } }: DatabaseExport): string =>
  `${sequence} ${day} ${secret.toString('hex').slice(0, 16)}`;

const eventColumns = ['holder', 'sequence', 'user', 'eventTime', 'account', 'day', 'eventID', 'body'];

const toRow = ({ user, contact, sequence, eventTime, account, day, eventID }: EventRow, body: Buffer): CopiedValue[] =>
  contact === null
    ? [user, sequence, null, eventTime, account, day, eventID, body]
    : [-contact, sequence, user, eventTime, account, day, eventID, body];

/** Copies events up to `through`, and records this progress in the same transaction. */
const copyEvents = async (client: pg.Client, events: readonly EventRow[], through: number): Promise<void> => {
  await client.query('BEGIN');
  const bodies = toBodies(events);
  await copyRows(client, 'event', eventColumns, [events.map((event, nth) => toRow(event, bodies[nth] as Buffer))]);
  const both = events.filter(({ user, contact }) => user !== null && contact !== null);
  await client.query(
    `INSERT INTO user_contact (account, "user", contact)
     SELECT DISTINCT * FROM unnest($1::integer[], $2::bigint[], $3::bigint[]) ON CONFLICT DO NOTHING`,
    [both.map(({ account }) => account), both.map(({ user }) => user), both.map(({ contact }) => contact)],
  );
  await client.query('UPDATE copying SET through = $1', [through]);
  await client.query('COMMIT');
};

/** Copies everything into an empty database, or continues an interrupted copy of the same source. */
export const copyInto = async (
  databaseURL: string,
  exported: DatabaseExport,
  onProgress: OnProgress,
): Promise<void> => {
  await runOnConnection(databaseURL, async (db) => {
    await migrate(db);
    if (db.isDistributed) await requireSafeWorkers(db);
  });
  const client = await openCopyConnection(databaseURL);
  try {
    // Takes a slot, which shows other commands that the database is in use.
    await client.query(takeSlot);
    const exists = (await client.query("SELECT to_regclass('copying') IS NOT NULL AS exists")).rows[0].exists;
    if (!exists) await begin(client, exported);
    const { source, through } = (await client.query('SELECT source, through FROM copying')).rows[0];
    if (source !== sourceOf(exported)) {
      throw new StoreUnusable(
        'the destination database contains an incomplete copy of another database, or of an earlier state of this one: use an empty database',
      );
    }
    const last = exported.position.sequence;
    let pending: EventRow[] = [];
    let characters = 0;
    let copied = 0;
    const flush = async () => {
      const end = pending.at(-1);
      if (!end) return;
      await copyEvents(client, pending, end.sequence);
      copied += pending.length;
      onProgress({ sequence: end.sequence, last, events: copied });
      pending = [];
      characters = 0;
    };
    for await (const events of exported.eventsAfter(Number(through))) {
      pending.push(...events);
      for (const event of events) characters += charactersOf(event);
      if (pending.length >= eventsPerCommit || characters >= charactersPerCommit) await flush();
    }
    await flush();
    await client.query('DROP TABLE copying');
    await client.query('ANALYZE');
  } finally {
    await client.end();
  }
};
