/** PostgreSQL with the same events as plain rows: a column per attribute, and an index on the time. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from } from 'pg-copy-streams';
import type { EventFeedPage, ReportFeed } from '../../src/store/report-feed.ts';
import { whole } from '../table.ts';
import { functions } from './plain-sql.ts';
import { type ReferenceDatabase, TooSlow } from './reference-database.ts';
import type { Cell } from './report-forms.ts';

const eventsPerRead = 20_000;
const openEnd = 2 ** 53;
/** Attributes in column order. */
const attributes = ['path', 'campaign', 'browser', 'price', 'referrer', '$country'];
/**
 * work_mem applies to each sort or hash table in each of three processes; larger sorts and hash tables are written to
 * files.
 */
const settings = `SET work_mem = '64MB'; SET maintenance_work_mem = '256MB'; SET temp_file_limit = '2GB'`;

/** The tables are unlogged, and rows are frozen on load, so that nothing is written twice. */
const tables = `
  CREATE UNLOGGED TABLE events (sequence bigint NOT NULL, user_id bigint NOT NULL, event_time bigint NOT NULL, event_id integer NOT NULL,
    robot boolean NOT NULL, path text, campaign text, browser text, price text, referrer text, country text);
  CREATE UNLOGGED TABLE owners (user_id bigint NOT NULL, after bigint NOT NULL, through bigint NOT NULL, contact bigint NOT NULL);
  CREATE UNLOGGED TABLE chosen (contact bigint NOT NULL)`;
const indexes = `CREATE INDEX ON events (event_time); CREATE INDEX ON owners (user_id); ANALYZE`;

/** Rows in COPY's text format. No value contains a character that needs escaping. */
const rowsOf = (fed: EventFeedPage): string => {
  const values = attributes.map((attrID) => {
    const texts = new Array<string>(fed.count).fill('\\N');
    const attribute = fed.attributes.find((one) => one.attrID === attrID);
    for (const [nth, row] of attribute?.rows.entries() ?? [])
      texts[row] = attribute?.texts[attribute.which[nth] as number] as string;
    return texts;
  });
  let rows = '';
  for (let row = 0; row < fed.count; row += 1) {
    rows += `${fed.sequence[row]}\t${fed.user[row]}\t${fed.eventTime[row]}\t${fed.eventID[row]}\tf`;
    for (const texts of values) rows += `\t${texts[row]}`;
    rows += '\n';
  }
  return rows;
};

interface PlainRowsOptions {
  readonly database: string;
  readonly feed: ReportFeed;
  readonly account: number;
  readonly limitMilliseconds: number;
  /** The contacts in the table `chosen`. */
  readonly chosen: Float64Array;
}

/** Loads the feed's events into PostgreSQL. */
export const openPlainRows = async ({ database, feed, account, limitMilliseconds, chosen }: PlainRowsOptions) => {
  const eventRows = async function* () {
    for (let beyond = 0, more = true; more; ) {
      const fed = await feed.feedEvents({ account, beyond, limit: eventsPerRead });
      yield rowsOf(fed);
      ({ through: beyond, more } = fed);
    }
  };
  const { users } = await feed.feedOwners({ account, since: null });
  const ownerRows = users.flatMap(({ user, stretches }) =>
    stretches.map(({ after, through, contact }) => `${user}\t${after}\t${Math.min(through, openEnd)}\t${contact}\n`),
  );
  const client = new pg.Client(database);
  await client.connect();
  const load = (table: string, rows: Readable) =>
    pipeline(rows, client.query(from(`COPY ${table} FROM STDIN (FREEZE)`)));

  await client.query(settings);
  await client.query('BEGIN');
  await client.query(tables);
  await load('events', Readable.from(eventRows(), { highWaterMark: 2 }));
  await load('owners', Readable.from(ownerRows));
  await load('chosen', Readable.from([...chosen].map((contact) => `${contact}\n`)));
  await client.query('COMMIT');
  await client.query(indexes);
  await client.query(functions.postgres);
  await client.query(`SET statement_timeout = ${limitMilliseconds}`);
  const size = await client.query(`SELECT pg_total_relation_size('events')::float8 AS bytes`);

  const rows: ReferenceDatabase = {
    name: 'PostgreSQL',
    async query(sql) {
      try {
        return (await client.query<Cell[]>({ text: sql, rowMode: 'array' })).rows;
      } catch (error) {
        const { code } = error as pg.DatabaseError;
        // query_canceled, configuration_limit_exceeded
        if (code === '57014') throw new TooSlow(`> ${whole(limitMilliseconds)}`);
        if (code === '53400') throw new TooSlow('no disk');
        throw error;
      }
    },
  };
  return { rows, bytes: size.rows[0].bytes as number, close: () => client.end() };
};
