/** Makes one statement of several reads of one account, for read_together (0040-cheaper-commands.sql). */
import { createHash } from 'node:crypto';
import { BoundedMap } from '../../../shared/bounded-map.ts';
import { accountTables } from './citus.ts';

const areOfAccounts: ReadonlySet<string> = new Set(accountTables);

/** A table after FROM or JOIN, and whether an alias follows, which our SQL writes in lower case or in quotes. */
const namesTable = /\b(FROM|JOIN) +("?)([a-z_]+)\2(?![\w(])(?=( +(?:AS |[a-z"]))?)/g;

/** A statement with %1$s, %2$s, … for its tables. */
interface JoinedReads {
  /** Differs for each pair of `sql` and `tables`. */
  readonly key: string;
  readonly sql: string;
  readonly tables: readonly string[];
  readonly reads: readonly string[];
}

/**
 * Joins reads into one that returns a JSON array with the rows of each. Parameter $1 is the account. The other parameters follow, those of the first read before
 * those of the second. `counts` has the number of parameters of each read, with the account. Throws where a read names anything but a table of
 * accounts after FROM or JOIN.
 */
export const joinReads = (sqls: readonly string[], counts: readonly number[]): JoinedReads => {
  const tables: string[] = [];
  const toShard = (_: string, word: string, __: string, name: string, alias?: string): string => {
    if (!areOfAccounts.has(name)) throw new Error(`${name} is not a table of accounts`);
    const known = tables.indexOf(`"${name}"`);
    const nth = known < 0 ? tables.push(`"${name}"`) : known + 1;
    return `${word} %${nth}$s${alias === undefined ? ` AS "${name}"` : ''}`;
  };
  let before = 0;
  const parts = sqls.map((sql, nth) => {
    const place = before;
    before += (counts[nth] as number) - 1;
    const onShard = sql
      .replaceAll('%', '%%')
      .replace(/\$(\d+)/g, (_, parameter: string) => `$${parameter === '1' ? 1 : Number(parameter) + place}`)
      .replace(namesTable, toShard);
    return `(SELECT coalesce(json_agg(row_to_json(one)), '[]') FROM (${onShard}) AS one)`;
  });
  const sql = `SELECT json_build_array(${parts.join(', ')})`;
  const digest = createHash('sha256')
    .update(JSON.stringify([sql, tables]))
    .digest('hex');
  return { key: digest.slice(0, 24), sql, tables, reads: sqls };
};

/** The most joined reads that are cached. An operation sends the same few each time. */
const mostKnown = 1_000;
const known = new BoundedMap<string, JoinedReads>(mostKnown);

/** As `joinReads`, cached. Reads with the same text have the same number of parameters. */
export const joinedReads = (sqls: readonly string[], counts: readonly number[]): JoinedReads => {
  const text = sqls.join(';');
  const found = known.get(text);
  if (found) return found;
  const made = joinReads(sqls, counts);
  known.set(text, made);
  return made;
};

/** Returns the reads that were joined last with this key. Tests look at the plans of each. */
export const readsOf = (key: string): readonly string[] | undefined =>
  [...known.values()].find((joined) => joined.key === key)?.reads;

export type Value = string | number | boolean | null | undefined | Buffer | readonly Value[];

/** Returns PostgreSQL's text of a value. */
export const textOf = (value: Value): string | null => {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object') return String(value);
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  return `{${value.map((one) => (one === null ? 'NULL' : `"${textOf(one)?.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`;
};

/** Returns the bytes of a column: in JSON they are text. */
export const bytesFrom = (column: Buffer | string): Buffer =>
  typeof column === 'string' ? Buffer.from(column.slice('\\x'.length), 'hex') : column;
