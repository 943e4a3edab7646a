/** Builds the calls that run statements about sent rows on the shards of a cluster (0036-prepared-once.sql). */
import { byType, pick, typeCount } from './arrays.ts';
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

/** Makes one statement of several. The last may begin with WITH. */
const joined = (texts: readonly string[]): string => {
  const before = texts.slice(0, -1).map((text, nth) => `part_${nth} AS (${text})`);
  const last = texts.at(-1) as string;
  return before.length === 0 ? last : `WITH ${before.join(', ')} ${last.replace(/^\s*WITH /, ', ')}`;
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
 * The arguments of read_shards, and the columns of shard_call after its account: for each shard an account and the SQL of all statements, the tables
 * that the SQL names, its bounds, and the values of all arrays, one array of each type.
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

/** Limits of a prepared statement's rows for one shard, because its values become text. */
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
 * Up to so many rows of each shard are read by their places, and more with unnest(), whose set-up takes longer and each row less: PostgreSQL took 82 and
 * 109 µs to store one event, 102 and 127 for two, 206 and 230 for eight, 393 and 399 for sixteen, 878 and 806 for 32.
 */
const mostByPlace = 16;

/** All shards and all calls have the same text: the places and the number of a shard's values are parameters too (as_prepared). */
const prepared: ToShards = (shards) => {
  const { values, inRows } = byType(shards.flat().flatMap(arraysOf), true);
  const { tables, table } = namingTables();
  const [statements = []] = shards;
  const isFew = shards.every((parts) => parts.every(({ accounts }) => accounts.length <= mostByPlace));
  let bound = 0;
  let at = 0;
  const next = () => {
    bound += 1;
    return `$6[1][${bound}]`;
  };
  const sqls = statements.map(({ statement: { columns, toSQL } }) => {
    const count = next();
    const own = inRows.slice(at, at + 1 + columns.length).map(({ parameter }) => {
      const before = next();
      return isFew ? `$${parameter}[${before} + nth]` : `unnest($${parameter}[${before} + 1:${before} + ${count}])`;
    });
    at += own.length;
    return toSQL({
      given: givenBy(columns, own, isFew ? ` FROM generate_series(1, ${count}) AS nth` : ''),
      count,
      table,
    });
  });
  const width = at;
  const bounds = shards.map((parts, nth) => {
    const own = inRows.slice(nth * width, (nth + 1) * width);
    // A shard's values of one type are contiguous.
    const pieces = Array.from({ length: typeCount }, (_, type) =>
      own.filter(({ parameter }) => parameter === type + 1),
    );
    const begins = pieces.map(([first]) => first?.first ?? 1);
    const before = own.map(({ parameter, first }) => first - (begins[parameter - 1] as number));
    return [
      ...pieces.flatMap((piece, type) => [begins[type] as number, piece.at(-1)?.last ?? 0]),
      ...parts.flatMap(({ accounts, columns }) => [accounts.length, ...before.splice(0, 1 + columns.length)]),
    ];
  });
  return [accountsOf(shards), [joined(sqls)], tables, bounds, ...values];
};

export const toShards = (shardOf: ShardOf, sent: readonly SentRows[]) => {
  const shards = byShard(shardOf, sent);
  return {
    /** The arguments of read_shards, and the columns of shard_call after its account. */
    args: mayBePrepared(shards) ? prepared(shards) : planned(shards),
    /** For each shard, how many rows the last statement is sent. */
    counts: shards.map((parts) => parts.at(-1)?.accounts.length),
  };
};
