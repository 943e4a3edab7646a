/**
 * Statements about rows that are sent as arrays, of one account or of several. On a Citus cluster these are on one machine, and the same statement
 * runs there on the shards of each (0034-commits-of-a-machine.sql): Citus plans a text with one table and `account = $1` once for a
 * connection, and any other each time, which takes longer than it runs (test/citus/README.md).
 */
import { byType, type ElementType, integers, pick } from './arrays.ts';
import type { AccountConnection, TakenConnection } from './connection.ts';

/** A connection that says whether it is to a cluster. */
export interface SpreadConnection extends AccountConnection, Pick<TakenConnection, 'isSpread'> {
  /** Accounts with equal numbers have their rows in the same shards. */
  shardOf(account: number): number;
}
type Column = readonly [name: string, type: ElementType];

interface Parts {
  /** SQL for the sent rows, a FROM item named `given`: their `account`, and a column for each array. */
  readonly given: string;
  /** SQL for how many rows are sent. */
  readonly count: string;
  /** Returns SQL for a table of accounts. */
  readonly table: (name: string) => string;
}

/**
 * Returns the SQL of a statement. On a cluster it is a format of PostgreSQL's format(), and may be a part of WITH: it must not contain "%", and
 * only the last of several statements may begin with WITH.
 */
type ToSQL = (parts: Parts) => string;

interface RowStatement {
  readonly columns: readonly Column[];
  readonly toSQL: ToSQL;
  /** For one PostgreSQL. */
  readonly sql: string;
  /** For a cluster: a text that Citus plans once. $1 is the account, not the account of each row. */
  readonly one?: string | undefined;
}

/** A statement and its rows: the account of each, and the columns in their order. */
export interface SentRows {
  readonly statement: RowStatement;
  readonly accounts: readonly number[];
  readonly columns: readonly Buffer[];
}

const arraysOf = ({ accounts, columns }: SentRows): Buffer[] => [integers(accounts, (account) => account), ...columns];

/** With unnest() in the list of a SELECT: in FROM, PostgreSQL stores the elements of each array before it reads them. */
const givenBy = (columns: readonly Column[], inRows: readonly string[], from = ''): string =>
  `(SELECT ${['account', ...columns.map(([name]) => name)].map((name, nth) => `${inRows[nth]} AS "${name}"`).join(', ')}${from}) AS given`;

/** `columns` are names and types of the arrays after the accounts. */
export const aboutRows = (columns: readonly Column[], toSQL: ToSQL, one?: string): RowStatement => ({
  columns,
  toSQL,
  one,
  sql: toSQL({
    given: givenBy(columns, [
      'unnest($1::integer[])',
      ...columns.map(([, type], nth) => `unnest($${nth + 2}::${type}[])`),
    ]),
    count: 'cardinality($1::integer[])',
    table: (name) => `"${name}"`,
  }),
});

interface Insertion {
  /** Columns that are equal in all rows, and SQL for them. */
  readonly equal?: Readonly<Record<string, string>>;
  /** ON CONFLICT and RETURNING. */
  readonly end?: string;
}

/** SQL that inserts the sent rows. */
export const insertRows = (
  { given, table }: Parts,
  name: string,
  columns: readonly Column[],
  { equal = {}, end = '' }: Insertion = {},
): string => {
  const names = ['account', ...columns.map(([column]) => column)].map((column) => `"${column}"`);
  const others = Object.keys(equal).map((column) => `"${column}"`);
  // ON CONFLICT names the table by this alias: a shard has another name.
  return `INSERT INTO ${table(name)} AS "${name}" (${[...names, ...others].join(', ')})
    SELECT ${[...names, ...Object.values(equal)].join(', ')} FROM ${given} ${end}`;
};

/** Inserts the sent rows. */
export const inserting = (name: string, columns: readonly Column[], insertion?: Insertion): RowStatement =>
  aboutRows(columns, (parts) => insertRows(parts, name, columns, insertion));

/** Divides statements by the shards of their rows, ascending: all transactions change rows in this order, so that no two wait for each other. */
const byShard = (db: SpreadConnection, sent: readonly SentRows[]): (readonly SentRows[])[] => {
  const shards = new Map<number, SentRows[]>();
  for (const { statement, accounts, columns } of sent) {
    const places = new Map<number, number[]>();
    for (const [place, account] of accounts.entries()) {
      const shard = db.shardOf(account);
      const before = places.get(shard);
      if (before) before.push(place);
      else places.set(shard, [place]);
    }
    for (const [shard, own] of places) {
      const part =
        places.size === 1
          ? { statement, accounts, columns }
          : {
              statement,
              accounts: own.map((place) => accounts[place] as number),
              columns: columns.map((column) => pick(column, own)),
            };
      shards.set(shard, [...(shards.get(shard) ?? []), part]);
    }
  }
  return [...shards].sort(([a], [b]) => a - b).map(([, parts]) => parts);
};

/**
 * The arguments of read_shards, and the columns of shard_call after its account: for each shard an account and the SQL of all statements, the tables
 * that the SQL names, and the values of all arrays, one array of each type.
 */
const toShards = (db: SpreadConnection, sent: readonly SentRows[]): unknown[] => {
  const shards = byShard(db, sent);
  const { values, inRows } = byType(shards.flat().flatMap(arraysOf));
  const tables: string[] = [];
  const table = (name: string): string => {
    const known = tables.indexOf(`"${name}"`);
    return `%${known < 0 ? tables.push(`"${name}"`) : known + 1}$s`;
  };
  let at = 0;
  const sqls = shards.map((parts) => {
    const texts = parts.map(({ statement: { columns, toSQL }, accounts }) => {
      const own = inRows.slice(at, at + 1 + columns.length);
      at += own.length;
      const makesRows = accounts.length === 1 || own.some(({ isValue }) => !isValue);
      const given = givenBy(
        columns,
        own.map(({ sql }) => sql),
        makesRows ? '' : ` FROM generate_series(1, ${accounts.length})`,
      );
      return toSQL({ given, count: String(accounts.length), table });
    });
    const last = texts.pop() as string;
    const before = texts.map((text, nth) => `part_${nth} AS (${text})`);
    return before.length === 0 ? last : `WITH ${before.join(', ')} ${last}`;
  });
  return [shards.map(([first]) => first?.accounts[0]), sqls, tables, ...values];
};

const readShards = `
  SELECT read_shards($2, $3, $4, $5, $6, $7, $8, $9) AS rows FROM account_position WHERE account = $1`;
const writeShards = `
  INSERT INTO shard_call (account, ours, sqls, tables, integers, bigints, byteas, uuids, texts)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

/** For a cluster: the text that Citus plans once, and its values, if the statement has one and the rows are of one account. */
const toOne = ({ statement: { one }, accounts, columns }: SentRows) =>
  one && new Set(accounts).size === 1 ? ([one, [accounts[0], ...columns]] as const) : undefined;

/**
 * Runs a statement and returns its rows. On a cluster they come as JSON unless the statement has a text of its own there: columns must be
 * numbers, text, booleans or null. Where the statement writes, `writeRows` must follow in the same transaction: on a cluster, a commit that
 * fails is an error only after an INSERT, UPDATE or DELETE (0033-on-shards.sql).
 */
export const readRows = async <Row>(db: SpreadConnection, sent: SentRows): Promise<Row[]> => {
  if (!db.isSpread) return db.all<Row>(sent.statement.sql, arraysOf(sent));
  const one = toOne(sent);
  if (one) return db.all<Row>(...one);
  const { rows } = await db.one<{ rows: Row[] | null }>(readShards, [db.account, ...toShards(db, [sent])]);
  return rows ?? [];
};

/**
 * Runs statements that return no rows. On a cluster several are one command: all but the last must be INSERT, UPDATE or DELETE, and none sees what
 * another has written.
 */
export const writeRows = async (db: SpreadConnection, ...sent: readonly [SentRows, ...SentRows[]]): Promise<void> => {
  if (!db.isSpread) {
    await Promise.all(sent.map((each) => db.run(each.statement.sql, arraysOf(each))));
    return;
  }
  const one = sent.length === 1 ? toOne(sent[0]) : undefined;
  if (one) {
    await db.run(...one);
    return;
  }
  await db.run(writeShards, [db.account, ...toShards(db, sent)]);
};
