/**
 * Taking over all that another database holds. All but the events goes in with one transaction, which also notes that a
 * copy is under way; then events, so many in a transaction, each of which notes how far it is. One that was interrupted
 * goes on from there.
 */
import type pg from 'pg';
import { contactFields } from '../../identity/contact-view.ts';
import { charactersOf } from '../attributes.ts';
import type { CopyProgress, Held, HeldEvent, HeldRow, HeldTable, Holdings } from '../holdings.ts';
import { daysKept } from '../received-day.ts';
import { createSentKeys, tokenInKey, toUUID } from '../sent-keys.ts';
import { StoreUnusable } from '../unusable.ts';
import { openPlain, openPool } from './connection.ts';
import { type CopiedValue, copyRows } from './copying.ts';
import { monthSQL, repeatsSQL } from './days.ts';
import { toBodies } from './event-body.ts';
import { migrate } from './migrate.ts';

const eventsPerCommit = 50_000;
/** Of attributes: what goes in with a commit is held in memory until it does. */
const charactersPerCommit = 16 * 1024 * 1024;
/** What was counted elsewhere lies with the counts of the connection that has this slot. */
const slot = 1;

type Values = Readonly<Record<string, CopiedValue>>;

/** How rows of one table become rows of another. */
interface Table {
  readonly to: string;
  readonly from: HeldTable;
  /** Columns that are taken over; of those that say yes or no, the numbers 1 and 0. */
  readonly columns: string;
  readonly booleans?: string;
  /** Columns that are made, by their names. */
  readonly made?: readonly string[];
  readonly make?: (row: HeldRow) => Values;
  readonly only?: (row: HeldRow) => boolean;
}

const wordsOf = (words = ''): string[] => words.split(' ').filter((word) => word !== '');

async function* rowsFor({ from, columns, booleans, made = [], make, only }: Table, holdings: Holdings) {
  const same = wordsOf(columns);
  const flags = wordsOf(booleans);
  const toRow = (row: HeldRow): CopiedValue[] => {
    const values = make?.(row) ?? {};
    return [
      ...same.map((name) => row[name] as CopiedValue),
      ...flags.map((name) => row[name] === 1),
      ...made.map((name) => values[name] as CopiedValue),
    ];
  };
  for await (const rows of holdings.rows(from)) yield (only ? rows.filter(only) : rows).map(toRow);
}

/** Rows by the contact that they are of. */
const byContact = async (rows: Held<HeldRow>): Promise<Map<number, HeldRow[]>> => {
  const found = new Map<number, HeldRow[]>();
  for await (const some of rows) {
    for (const row of some) {
      const list = found.get(row.contact as number);
      if (list) list.push(row);
      else found.set(row.contact as number, [row]);
    }
  }
  return found;
};

/** What contacts' own records say of them, as OwnValues. */
const createSaid = async (holdings: Holdings) => {
  const tags = await byContact(holdings.rows('contact_tag'));
  const attributes = await byContact(holdings.rows('contact_attr'));
  return (row: HeldRow): string => {
    const contact = row.contact as number;
    const fields = contactFields.filter((name) => name !== 'contactEmailaddress' && row[name] !== null);
    return JSON.stringify({
      fields: Object.fromEntries(fields.map((name) => [name, row[name]])),
      tags: (tags.get(contact) ?? []).map(({ tagID, opt }) => [tagID, opt === 1]),
      attributes: (attributes.get(contact) ?? []).map(({ attrID, attrValue }) => [attrID, attrValue]),
    });
  };
};

/** Every table but that of events, and those of who was linked to whom. Of repeats, only those of `keptDays`. */
const tablesOf = async (holdings: Holdings, keptDays: ReadonlySet<number>): Promise<Table[]> => {
  // An older one waits to be deleted; it may have been sent again since, and request_repeat takes a key once.
  const isKept = ({ day }: HeldRow) => keptDays.has(day as number);
  const { eventKey, requestKey } = createSentKeys(holdings.position.secret);
  const saidOf = await createSaid(holdings);
  const accounts = new Map<unknown, CopiedValue>();
  for await (const users of holdings.rows('user')) {
    for (const { user, account } of users) accounts.set(user, account as number);
  }
  return [
    {
      to: 'account',
      from: 'account',
      columns: 'account accountUUID accountName accountOrigin accountTimezone createdTime',
      booleans: 'strict',
    },
    { to: 'token', from: 'token', columns: 'token tokenID account kind tokenName hash text createdTime revokedTime' },
    { to: 'catalogue', from: 'catalogue', columns: 'account kind id name type', booleans: 'browser byBrowser' },
    { to: 'user_name', from: 'user', columns: 'userUUID account user' },
    { to: 'user', from: 'user', columns: 'user account userUUID firstDay lastDay createdTime' },
    { to: 'contact_name', from: 'contact', columns: 'contactUUID account contact' },
    { to: 'contact_address', from: 'contact', columns: 'contactEmailaddress account contact contactUUID' },
    {
      to: 'contact',
      from: 'contact',
      columns:
        'contact account contactUUID contactEmailaddress contactStatus mergedInto mergedTime firstDay lastDay createdTime updatedTime',
      booleans: 'verified',
      made: ['said'],
      make: (row) => ({ said: saidOf(row) }),
    },
    {
      to: 'merged_contact',
      from: 'contact',
      columns: '',
      made: ['contact', 'other'],
      make: ({ mergedInto, contact }) => ({ contact: mergedInto as number, other: contact as number }),
      only: ({ mergedInto }) => mergedInto !== null,
    },
    { to: 'claim_name', from: 'claim', columns: 'claimID claim contact' },
    {
      to: 'claim',
      from: 'claim',
      columns: 'contact claim claimID account token user said createdTime updatedTime',
      booleans: 'accepted voided',
    },
    {
      to: 'statement',
      from: 'statement',
      columns: 'user sequence contact voided claim token time',
      booleans: 'verified erased',
      made: ['account'],
      make: ({ user }) => ({ account: accounts.get(user) as number }),
    },
    { to: 'statement_place', from: 'statement', columns: 'sequence user' },
    {
      to: 'event_repeat',
      from: 'event_repeat',
      columns: 'holder day',
      made: ['key'],
      make: ({ holder, eventUUID }) => ({ key: toUUID(eventKey(holder as number, eventUUID as string)) }),
      only: isKept,
    },
    {
      // Of whom they were is not known any more.
      to: 'event_repeat',
      from: 'erased_repeat',
      columns: 'day',
      made: ['holder', 'key'],
      make: ({ hash }) => ({ holder: 0, key: (hash as Buffer).toString('hex') }),
      only: isKept,
    },
    {
      to: 'request_repeat',
      from: 'request_repeat',
      columns: 'user day contact claim',
      booleans: 'existed',
      made: ['key'],
      make: ({ requestUUID, token }) => ({
        // It may have been on PostgreSQL before.
        key:
          token === tokenInKey
            ? (requestUUID as string)
            : requestKey({ requestUUID: requestUUID as string, token: token as number }),
      }),
      only: isKept,
    },
    {
      to: 'event_total',
      from: 'event_total',
      columns: 'account eventID quarter count firstTime lastTime',
      made: ['slot'],
      make: () => ({ slot }),
    },
    {
      to: 'account_day',
      from: 'account_day',
      columns: 'account day count firstSequence lastSequence firstTime lastTime',
      made: ['slot'],
      make: () => ({ slot }),
    },
    { to: 'erasure', from: 'erasure', columns: 'erasure account erasedTime deletedEvents', booleans: 'complete' },
    { to: 'erased_stretch', from: 'erased_stretch', columns: 'user erasure after through' },
    { to: 'erased_contact', from: 'erased_contact', columns: 'contact erasure' },
    { to: 'erased_identifier', from: 'erased_identifier', columns: 'hash erasure' },
    {
      to: 'refused_request',
      from: 'refused_request',
      columns: 'token refused operation code field message refusedTime bytes address input',
    },
    { to: 'refused_count', from: 'refused_count', columns: 'token listed listedBytes evicted erased replayed' },
  ];
};

/** The greatest number that was given to each, so that the next is greater. */
const numbersOf = ({ numbers }: Holdings) => [
  ["pg_get_serial_sequence('account', 'account')", 'SELECT max(account) FROM account'],
  ["pg_get_serial_sequence('token', 'token')", 'SELECT max(token) FROM token'],
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
  for (const table of ['event_repeat', 'erased_repeat', 'request_repeat'] as const) {
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
  await client.query('INSERT INTO kept_day (day, keyed) SELECT unnest($1::integer[]), true', [[...kept]]);
  for (const table of await tablesOf(holdings, kept)) {
    const columns = [...wordsOf(table.columns), ...wordsOf(table.booleans), ...(table.made ?? [])];
    await copyRows(client, table.to, columns, rowsFor(table, holdings));
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
