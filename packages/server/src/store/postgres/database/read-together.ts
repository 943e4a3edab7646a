/**
 * Reads of one account. On a Citus cluster, those that are asked at the same time are one command on the machine that has the account
 * (0040-reads-of-a-page.sql): a command takes several times as long as such a statement, and the machine prepares each statement once for a connection.
 */
import { createHash } from 'node:crypto';
import { BoundedMap } from '../../../bounded-map.ts';
import { accountTables } from './citus.ts';
import type { AccountConnection, TakenConnection } from './connection.ts';

const areOfAccounts: ReadonlySet<string> = new Set(accountTables);

/** A table after FROM or JOIN, and whether an alias follows, which our SQL writes in lower case or in quotes. */
const namesTable = /\b(FROM|JOIN) +("?)([a-z_]+)\2(?![\w(])(?=( +(?:AS |[a-z"]))?)/g;

/** The statement of several that read_together prepares: %1$s, %2$s, … stand for its tables. */
interface Together {
  readonly key: string;
  readonly sql: string;
  readonly tables: readonly string[];
}

/**
 * Makes one statement of several, that returns an array of the rows of each, as JSON. Of its parameters, $1 is the account, then come the other values of each.
 * `counts` are the numbers of parameters, with the account. Throws where a statement names anything but a table of accounts after FROM or JOIN.
 */
export const joinReads = (sqls: readonly string[], counts: readonly number[]): Together => {
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
  return { key: createHash('sha256').update(sql).digest('hex').slice(0, 24), sql, tables };
};

/** Of the sets of statements that are asked together there are few, because each comes from the same operation. */
const mostKnown = 1_000;
const known = new BoundedMap<string, Together>(mostKnown);
const joinedOf = (asked: readonly Asked[]): Together => {
  const sqls = asked.map(({ sql }) => sql);
  const text = sqls.join(';');
  const together =
    known.get(text) ??
    joinReads(
      sqls,
      asked.map(({ values }) => values.length),
    );
  known.set(text, together);
  return together;
};

type Value = string | number | boolean | null | Buffer | readonly Value[];

/** Returns PostgreSQL's text of a value. */
export const textOf = (value: Value): string | null => {
  if (value === null) return null;
  if (typeof value !== 'object') return String(value);
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  return `{${value.map((one) => (one === null ? 'NULL' : `"${textOf(one)?.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`;
};

interface Asked {
  readonly sql: string;
  readonly values: readonly unknown[];
  resolve(rows: unknown[] | Promise<unknown[]>): void;
  reject(error: unknown): void;
}

const readSQL = `
  SELECT read_together($1::integer, max(tableoid), $2, $3, $4, $5, $6) AS rows FROM account_position WHERE account = $1`;

/** Returns the rows of each statement; undefined where read_together refuses. */
const ask = async (
  db: AccountConnection,
  asked: readonly Asked[],
  { isUnwritten }: { readonly isUnwritten: boolean },
): Promise<unknown[][] | undefined> => {
  const { key, sql, tables } = joinedOf(asked);
  const values = [db.account, ...asked.flatMap((one) => one.values.slice(1))] as Value[];
  const read = async (...statement: readonly unknown[]) =>
    (
      await db.one<{ rows: unknown[][] | false | null }>(readSQL, [
        ...[db.account, key, ...statement, values.map(textOf), isUnwritten],
      ])
    ).rows;
  // The text takes longer to send and to parse than the statement to run, and most sessions have prepared it.
  const rows = (await read(null, null)) ?? (await read(sql, tables));
  return rows || undefined;
};

/** Returns a connection that calls `send` with the statements of an account, once all that can be asked without a result have been. */
const gathering = (
  account: number,
  send: (asked: readonly Asked[]) => Promise<readonly (unknown[] | Promise<unknown[]>)[]>,
): AccountConnection => {
  let asked: Asked[] = [];
  const flush = (): void => {
    const all = asked;
    asked = [];
    send(all).then(
      (rows) => {
        for (const [nth, { resolve }] of all.entries()) resolve(rows[nth] as unknown[]);
      },
      (error) => {
        for (const { reject } of all) reject(error);
      },
    );
  };
  const all = <Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> =>
    new Promise<Row[]>((resolve, reject) => {
      asked.push({ sql, values, resolve: resolve as Asked['resolve'], reject });
      // After the promises that are resolved by now: Node.js runs nextTick's calls when no other promise is ready.
      if (asked.length === 1) Promise.resolve().then(() => process.nextTick(flush));
    });
  return {
    account,
    all,
    get: async <Row>(sql: string, values?: readonly unknown[]) => (await all<Row>(sql, values))[0],
    one: async <Row>(sql: string, values?: readonly unknown[]) => (await all<Row>(sql, values))[0] as Row,
    run: async (sql, values) => (await all(sql, values)).length,
  };
};

/**
 * Returns a connection whose statements may be sent together. They must read tables of accounts only. On a cluster, columns come as JSON, and bytes as text
 * (`bytesOf`).
 */
export const readTogether = (db: AccountConnection & Pick<TakenConnection, 'isSpread'>): AccountConnection =>
  db.isSpread
    ? gathering(db.account, async (asked) => {
        const rows = await ask(db, asked, { isUnwritten: false });
        // Without an account there are no rows, unless a statement makes some.
        return asked.map(({ sql, values }, nth) => rows?.[nth] ?? db.all(sql, values));
      })
    : db;

/** Thrown where two commands are not enough, or the account has a writer. */
export class NeedsSnapshot extends Error {}

/**
 * As `readTogether`, on a cluster and outside of a transaction, for at most two commands. Throws NeedsSnapshot. Each is one statement, which has a snapshot of its own.
 * When the first takes its snapshot, the account has no writer.
 */
export const readTwice = (db: AccountConnection): AccountConnection => {
  let commands = 0;
  return gathering(db.account, async (asked) => {
    commands += 1;
    const rows = commands > 2 ? undefined : await ask(db, asked, { isUnwritten: commands === 1 });
    if (!rows) throw new NeedsSnapshot();
    return rows;
  });
};

/** Returns the bytes of a column. */
export const bytesOf = (bytes: Buffer | string): Buffer =>
  typeof bytes === 'string' ? Buffer.from(bytes.slice('\\x'.length), 'hex') : bytes;
