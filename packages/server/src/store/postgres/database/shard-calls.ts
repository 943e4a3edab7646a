/** Builds the calls that run statements about sent rows on the shards of a cluster (0041-remembered-states.sql). */
import { createHash } from 'node:crypto';
import { BoundedMap } from '../../../shared/bounded-map.ts';
import { byType, type ElementType, joinAsSQL, pick, separator, typeOf } from './arrays.ts';
import { arraysOf, type Columns, givenBy, type Parts, type RowStatement, type SentRows } from './row-statements.ts';

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

const accountsOf = (shards: readonly (readonly SentRows[])[]) => shards.map(([first]) => first?.accounts[0]);

/** The arguments of read_shards: the SQL of all statements, for each shard, and the values of all arrays, one array of each type. */
const planned = (shards: readonly (readonly SentRows[])[]) => {
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
  return [accountsOf(shards), sqls, tables, ...values];
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
 * How a shard's text reads the rows that it is sent. 'one': each statement has one row, and the places of its values are constants. 'few': the places are a
 * parameter. 'many': unnest(), whose set-up takes longer and each row less. To store an event of a known user, PostgreSQL took 44 µs as one and 57 as few. In other
 * runs, one row took 82 µs as few and 109 as many; eight: 206 and 230; sixteen: 393 and 399; 32: 878 and 806.
 */
type Kind = 'one' | 'few' | 'many';
const mostFew = 16;

const kindOf = (parts: readonly SentRows[]): Kind => {
  const most = Math.max(...parts.map(({ accounts }) => accounts.length));
  if (most > mostFew) return 'many';
  return most === 1 ? 'one' : 'few';
};

/** Where the elements of an array are: in the parameter for their type, after so many others. */
interface Place {
  readonly type: ElementType;
  readonly before: number;
}

/** The arrays of a shard by type, in the order of the parameters, and the places of each statement's arrays. */
const arrange = (parts: readonly SentRows[]) => {
  const arrays = new Map<ElementType, Buffer[]>();
  const counts = new Map<ElementType, number>();
  const places = parts.map((part) =>
    arraysOf(part).map((array): Place => {
      const type = typeOf(array);
      const before = counts.get(type) ?? 0;
      counts.set(type, before + part.accounts.length);
      arrays.set(type, [...(arrays.get(type) ?? []), array]);
      return { type, before };
    }),
  );
  return { arrays, places };
};

/** What follows the name of a statement in PREPARE, the tables that it names, and a key for both. */
interface PreparedText {
  readonly key: string;
  readonly sql: string;
  readonly tables: readonly string[];
}

/** Each parameter holds the arrays of one type. For 'few' and 'many', one more holds for each statement a count of rows, and what comes before each array. */
const toText = (parts: readonly SentRows[], kind: Kind): PreparedText => {
  const { arrays, places } = arrange(parts);
  const types = [...arrays.keys()];
  const { tables, table } = namingTables();
  let sent = 0;
  const nextSent = () => {
    sent += 1;
    return `$${types.length + 1}[${sent}]`;
  };
  const givenTo = (columns: Columns, own: readonly Place[]): Pick<Parts, 'given' | 'count'> => {
    const parameter = (place: Place) => `$${types.indexOf(place.type) + 1}`;
    if (kind === 'one') {
      const inRows = own.map((place) => `${parameter(place)}[${place.before + 1}]`);
      return { given: givenBy(columns, inRows), count: '1' };
    }
    const count = nextSent();
    const inRows = own.map((place) => {
      const before = nextSent();
      return kind === 'few'
        ? `${parameter(place)}[${before} + nth]`
        : `unnest(${parameter(place)}[${before} + 1:${before} + ${count}])`;
    });
    return {
      given: givenBy(columns, inRows, kind === 'few' ? ` FROM generate_series(1, ${count}) AS nth` : ''),
      count,
    };
  };
  const sqls = parts.map(({ statement: { columns, toSQL } }, nth) =>
    toSQL({ ...givenTo(columns, places[nth] as Place[]), table }),
  );
  const parameters = [...types, ...(sent > 0 ? ['integer'] : [])].map((type) => `${type}[]`);
  const sql = `(${parameters.join(', ')}) AS ${joined(sqls)}`;
  const key = createHash('sha256').update(`${tables} ${sql}`).digest('hex').slice(0, 16);
  return { key, sql, tables };
};

const numbers = new WeakMap<RowStatement, number>();
let numbered = 0;
const numberOf = (statement: RowStatement): number => {
  const known = numbers.get(statement);
  if (known !== undefined) return known;
  numbered += 1;
  numbers.set(statement, numbered);
  return numbered;
};

/** By kind and statements, which are constants: only tests make many. */
const texts = new BoundedMap<string, PreparedText>(1_000);

const textOf = (parts: readonly SentRows[], kind: Kind): PreparedText => {
  const name = `${kind} ${parts.map(({ statement }) => numberOf(statement))}`;
  const text = texts.get(name) ?? toText(parts, kind);
  texts.set(name, text);
  return text;
};

/** The values of a text's parameters as SQL. */
const valuesAsSQL = (parts: readonly SentRows[], kind: Kind): string => {
  const { arrays, places } = arrange(parts);
  const values = [...arrays.values()].map(joinAsSQL);
  if (kind === 'one') return values.join();
  const sent = parts.flatMap(({ accounts }, nth) => [
    accounts.length,
    ...(places[nth] as Place[]).map(({ before }) => before),
  ]);
  return [...values, `'{${sent}}'`].join();
};

/** The arguments of read_prepared. All texts name the same tables, in the same order. */
const prepared = (shards: readonly (readonly SentRows[])[]) => {
  const found: PreparedText[] = [];
  const kinds: number[] = [];
  const values = shards.map((parts) => {
    const kind = kindOf(parts);
    const text = textOf(parts, kind);
    const known = found.indexOf(text);
    kinds.push(known < 0 ? found.push(text) : known + 1);
    return valuesAsSQL(parts, kind);
  });
  const keys = found.map(({ key }) => key);
  const sqls = found.map(({ sql }) => sql).join(separator);
  return [accountsOf(shards), found[0]?.tables, keys, kinds, sqls, values.join(separator)];
};

export interface ShardCall {
  /** Whether the arguments are those of read_prepared, not of read_shards; these are also columns of shard_call. */
  readonly isPrepared: boolean;
  readonly args: readonly unknown[];
  /** For each shard, how many rows the last statement is sent. */
  readonly counts: readonly number[];
}

export const toShards = (shardOf: ShardOf, sent: readonly SentRows[]): ShardCall => {
  const shards = byShard(shardOf, sent);
  const isPrepared = mayBePrepared(shards);
  return {
    isPrepared,
    args: isPrepared ? prepared(shards) : planned(shards),
    counts: shards.map((parts) => parts.at(-1)?.accounts.length ?? 0),
  };
};
