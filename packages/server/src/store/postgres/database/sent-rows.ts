/**
 * Statements about rows that are sent as arrays, of one account or of several. On a Citus cluster these are on one machine, and the same statement
 * runs there on the shards of each (0041-remembered-states.sql): Citus plans a text with one table and `account = $1` once for a
 * connection, and any other each time, which takes longer than it runs (test/citus/README.md).
 */
import type { AccountConnection, TakenConnection } from './connection.ts';
import { arraysOf, type SentRows } from './row-statements.ts';
import { type ShardCall, toShards } from './shard-calls.ts';

/** A connection that says whether it is to a cluster. */
export interface SpreadConnection extends AccountConnection, Pick<TakenConnection, 'isSpread' | 'accountInTexts'> {
  /** Accounts with equal numbers have their rows in the same shards. */
  shardOf(account: number): number;
}

/**
 * In both texts the account is a number. If it were a parameter, Citus would put the values of all parameters into the text that it sends
 * (CitusBeginReadOnlyScan and ModifyJobNeedsEvaluation in citus_custom_scan.c): the machine would parse them, and log them if the command failed.
 */
const accountIn = (db: SpreadConnection): number => db.accountInTexts(db.shardOf(db.account), db.account);
/** With count(*) there is a row, also when that account is gone. */
const readShardsSQL = (db: SpreadConnection, { isPrepared }: ShardCall): string => `
  SELECT ${isPrepared ? 'read_prepared($1, $2, $3, $4, $5, $6)' : 'read_shards($1, $2, $3, $4, $5, $6, $7, $8)'} AS rows, count(*)
  FROM account_position WHERE account = ${accountIn(db)}`;
const writeShardsSQL = (db: SpreadConnection, { isPrepared }: ShardCall): string =>
  isPrepared
    ? `INSERT INTO shard_call (account, "mustReturn", ours, tables, keys, kinds, prepared, arguments)
       VALUES (${accountIn(db)}, $1, $2, $3, $4, $5, $6, $7)`
    : `INSERT INTO shard_call (account, "mustReturn", ours, sqls, tables, integers, bigints, byteas, uuids, texts)
       VALUES (${accountIn(db)}, $1, $2, $3, $4, $5, $6, $7, $8, $9)`;

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
  const call = toShards(db.shardOf, [sent]);
  const { rows } = await db.one<{ rows: Row[] | null }>(readShardsSQL(db, call), call.args);
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
  const call = toShards(db.shardOf, sent);
  const stored = await db.run(writeShardsSQL(db, call), [null, ...call.args]);
  if (stored !== 0) throw new Error('a row of shard_call was stored: its trigger did not run the statements');
};

/**
 * For a cluster: runs statements as one command. Returns whether the last one returned a row for each row that it was sent. If not, the caller must
 * roll back: some shards were not written, and `shard_call` has a row (0041-remembered-states.sql).
 */
export const writeIfAllReturned = async (
  db: SpreadConnection,
  ...sent: readonly [SentRows, ...SentRows[]]
): Promise<boolean> => {
  const call = toShards(db.shardOf, sent);
  return (await db.run(writeShardsSQL(db, call), [call.counts, ...call.args])) === 0;
};
