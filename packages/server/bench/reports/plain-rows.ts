/** PostgreSQL with the same events as plain rows: a column for each attribute, and an index on the time. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from } from 'pg-copy-streams';
import type { FedEvents, ReportFeed } from '../../src/store/report-feed.ts';
import { whole } from '../table.ts';
import { type Compared, TooSlow } from './compared.ts';
import { functions } from './plain-sql.ts';
import type { Cell } from './report-forms.ts';

const eventsAtOnce = 20_000;
const openEnd = 2 ** 53;
/** Attributes in the order of their columns. */
const attributes = ['path', 'campaign', 'browser', 'price', 'referrer', '$country'];
/** A sort or a hash table takes so much in each of three processes. What is more is written to files. */
const settings = `SET work_mem = '64MB'; SET maintenance_work_mem = '256MB'; SET temp_file_limit = '2GB'`;

/** Unlogged, and frozen when it is loaded: nothing of it is written twice. */
const tables = `
  CREATE UNLOGGED TABLE events (sequence bigint NOT NULL, user_id bigint NOT NULL, event_time bigint NOT NULL, event_id integer NOT NULL,
    robot boolean NOT NULL, path text, campaign text, browser text, price text, referrer text, country text);
  CREATE UNLOGGED TABLE owners (user_id bigint NOT NULL, after bigint NOT NULL, through bigint NOT NULL, contact bigint NOT NULL);
  CREATE UNLOGGED TABLE chosen (contact bigint NOT NULL)`;
const indexes = `CREATE INDEX ON events (event_time); CREATE INDEX ON owners (user_id); ANALYZE`;

/** Rows in the text format of COPY; no value holds a character that has a meaning there. */
const rowsOf = (fed: FedEvents): string => {
  const values = attributes.map((attrID) => {
    const texts = new Array<string>(fed.count).fill('\\N');
    const found = fed.attributes.find((one) => one.attrID === attrID);
    for (const [nth, row] of found?.rows.entries() ?? [])
      texts[row] = found?.texts[found.which[nth] as number] as string;
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

interface Loaded {
  readonly database: string;
  readonly feed: ReportFeed;
  readonly account: number;
  readonly limitMilliseconds: number;
  /** The contacts in the table `chosen`. */
  readonly chosen: Float64Array;
}

/** Loads the events of the feed. */
export const openPlainRows = async ({ database, feed, account, limitMilliseconds, chosen }: Loaded) => {
  const eventRows = async function* () {
    for (let beyond = 0, more = true; more; ) {
      const fed = await feed.feedEvents({ account, beyond, most: eventsAtOnce });
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

  const rows: Compared = {
    name: 'PostgreSQL',
    async ask(sql) {
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
