/** Builds the calls that run statements about sent rows on the shards of a cluster (0036-prepared-once.sql). */
import { byType, type InRows, pick, typeCount } from './arrays.ts';
import { arraysOf, givenBy, type SentRows } from './row-statements.ts';

/** Accounts with equal numbers have their rows in the same shards. */
type ShardOf = (account: number) => number;

/** Divides statements by the shards of their rows, ascending: all transactions change rows in this order, so that no two wait for each other. */
const byShard = (shardOf: ShardOf, sent: readonly SentRows[]): (readonly SentRows[])[] => {
  const shards = new Map<number, SentRows[]>();
  for (const { statement, accounts, columns } of sent) {
    const places = new Map<number, number[]>();
    for (const [place, account] of accounts.entries()) {
      const shard = shardOf(account);
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

/** Makes one statement of several, of which none may begin with WITH. */
const joined = (texts: readonly string[]): string => {
  const before = texts.slice(0, -1).map((text, nth) => `part_${nth} AS (${text})`);
  const last = texts.at(-1) as string;
  return before.length === 0 ? last : `WITH ${before.join(', ')} ${last}`;
};

/** Returns a function for `Parts.table`, and the tables that it was asked for. */
const namingTables = () => {
  const tables: string[] = [];
  const table = (name: string): string => {
    const known = tables.indexOf(`"${name}"`);
    return `%${known < 0 ? tables.push(`"${name}"`) : known + 1}$s`;
  };
  return { tables, table };
};

/**
 * The arguments of read_shards, and the columns of shard_call after its account and `mustReturn`: for each shard an account, the SQL of all statements
 * (for each shard, or one text that is prepared), the tables that the SQL names, the bounds of each shard, and the values of all arrays, one array of each
 * type.
 */
type ToShards = (shards: readonly (readonly SentRows[])[]) => unknown[];

const accountsOf = (shards: readonly (readonly SentRows[])[]) => shards.map(([first]) => first?.accounts[0]);

const planned: ToShards = (shards) => {
  const { values, inRows } = byType(shards.flat().flatMap(arraysOf));
  const { tables, table } = namingTables();
  let at = 0;
  const sqls = shards.map((parts) =>
    joined(
      parts.map(({ statement: { columns, toSQL }, accounts }) => {
        const own = inRows.slice(at, at + 1 + columns.length);
        at += own.length;
        const makesRows = accounts.length === 1 || own.some(({ isValue }) => !isValue);
        const given = givenBy(
          columns,
          own.map(({ sql }) => sql),
          makesRows ? '' : ` FROM generate_series(1, ${accounts.length})`,
        );
        return toSQL({ given, count: String(accounts.length), table });
      }),
    ),
  );
  return [accountsOf(shards), sqls, tables, null, ...values];
};

/** Limits of what a prepared command gets of a shard for each of its statements, because the values become text. */
const mostPrepared = { rows: 256, bytes: 128 * 1024 };

const isSmall = ({ accounts, columns }: SentRows): boolean =>
  accounts.length <= mostPrepared.rows && columns.reduce((sum, { length }) => sum + length, 0) <= mostPrepared.bytes;

const mayBePrepared = (shards: readonly (readonly SentRows[])[]): boolean =>
  shards.length > 0 &&
  shards.every(
    (parts) =>
      parts.length === shards[0]?.length &&
      parts.every(
        (part, nth) => part.statement.isPrepared && part.statement === shards[0]?.[nth]?.statement && isSmall(part),
      ),
  );

/**
 * Up to so many rows of each shard are read by their places, and more with unnest(), whose set-up takes longer and each row less. To store one event
 * PostgreSQL took 82 µs by place and 109 with unnest(); two: 102 and 127; eight: 206 and 230; sixteen: 393 and 399; 32: 878 and 806.
 */
const mostByPlace = 16;

/**
 * All shards of a call have the same text, of two: for few rows and for more. $6 has for each statement how many rows it is sent, then for each of its
 * arrays how many elements of the parameter come before it (as_prepared).
 */
const preparedSQL = (statements: readonly SentRows[], inRows: readonly InRows[], isFew: boolean) => {
  const { tables, table } = namingTables();
  let bound = 0;
  const next = () => {
    bound += 1;
    return `$6[1][${bound}]`;
  };
  let at = 0;
  const sqls = statements.map(({ statement: { columns, toSQL } }) => {
    const count = next();
    const own = inRows.slice(at, at + 1 + columns.length).map(({ parameter }) => {
      const before = next();
      return isFew ? `$${parameter}[${before} + nth]` : `unnest($${parameter}[${before} + 1:${before} + ${count}])`;
    });
    at += own.length;
    const from = isFew ? ` FROM generate_series(1, ${count}) AS nth` : '';
    return toSQL({ given: givenBy(columns, own, from), count, table });
  });
  return { sql: joined(sqls), tables };
};

/** For a shard: the places of its first and last value in each array of the call, then $6. */
const boundsOf = (parts: readonly SentRows[], inRows: readonly InRows[]): number[] => {
  // A shard's values of one type are contiguous.
  const pieces = Array.from({ length: typeCount }, (_, type) =>
    inRows.filter(({ parameter }) => parameter === type + 1),
  );
  const begins = pieces.map(([first]) => first?.first ?? 1);
  let at = 0;
  return [
    ...pieces.flatMap((piece, type) => [begins[type] as number, piece.at(-1)?.last ?? 0]),
    ...parts.flatMap(({ accounts, columns }) => {
      const own = inRows.slice(at, at + 1 + columns.length);
      at += own.length;
      return [accounts.length, ...own.map(({ parameter, first }) => first - (begins[parameter - 1] as number))];
    }),
  ];
};

const prepared: ToShards = (shards) => {
  const { values, inRows } = byType(shards.flat().flatMap(arraysOf), true);
  const [statements = []] = shards;
  const isFew = shards.every((parts) => parts.every(({ accounts }) => accounts.length <= mostByPlace));
  const { sql, tables } = preparedSQL(statements, inRows, isFew);
  const width = statements.reduce((sum, { columns }) => sum + 1 + columns.length, 0);
  const bounds = shards.map((parts, nth) => boundsOf(parts, inRows.slice(nth * width, (nth + 1) * width)));
  return [accountsOf(shards), [sql], tables, bounds, ...values];
};

export const toShards = (shardOf: ShardOf, sent: readonly SentRows[]) => {
  const shards = byShard(shardOf, sent);
  return {
    /** The arguments of read_shards, and the columns of shard_call after `mustReturn`. */
    args: mayBePrepared(shards) ? prepared(shards) : planned(shards),
    /** For each shard, how many rows the last statement is sent. */
    counts: shards.map((parts) => parts.at(-1)?.accounts.length),
  };
};
