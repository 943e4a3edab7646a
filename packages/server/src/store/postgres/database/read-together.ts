/**
 * Reads of one account. On a Citus cluster, reads that are sent at the same time become one command on the machine that has the account
 * (0040-cheaper-commands.sql): a command takes several times as long as such a read, and the machine prepares it once for a connection.
 */
import type { AccountConnection, TakenConnection } from './connection.ts';
import { joinedReads, textOf, type Value } from './joined-reads.ts';

interface Read {
  readonly sql: string;
  readonly values: readonly unknown[];
  resolve(rows: unknown[] | Promise<unknown[]>): void;
  reject(error: unknown): void;
}

const readSQL = `
  SELECT read_together($1::integer, max(tableoid), $2, $3, $4, $5, $6) AS rows FROM account_position WHERE account = $1`;

/** Sends reads as one command, and returns the rows of each; undefined where read_together refuses. */
const send = async (
  db: AccountConnection,
  reads: readonly Read[],
  { isUnwritten }: { readonly isUnwritten: boolean },
): Promise<unknown[][] | undefined> => {
  const { key, sql, tables } = joinedReads(
    reads.map((read) => read.sql),
    reads.map(({ values }) => values.length),
  );
  const values = [db.account, ...reads.flatMap((read) => read.values.slice(1))] as Value[];
  const ask = async (text: string | null) => {
    const given = [db.account, key, text, text && tables, values.map(textOf), isUnwritten];
    return (await db.one<{ rows: unknown[][] | false | null }>(readSQL, given)).rows;
  };
  // Without the text first: it takes longer to send than the reads take, and most sessions have prepared them.
  return ((await ask(null)) ?? (await ask(sql))) || undefined;
};

/** Returns a connection that calls `sendAll` with all reads that were sent before the next result. */
const gathering = (
  account: number,
  sendAll: (reads: readonly Read[]) => Promise<readonly (unknown[] | Promise<unknown[]>)[]>,
): AccountConnection => {
  let waiting: Read[] = [];
  const flush = (): void => {
    const reads = waiting;
    waiting = [];
    sendAll(reads).then(
      (rows) => {
        for (const [nth, { resolve }] of reads.entries()) resolve(rows[nth] as unknown[]);
      },
      (error) => {
        for (const { reject } of reads) reject(error);
      },
    );
  };
  const all = <Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> =>
    new Promise<Row[]>((resolve, reject) => {
      waiting.push({ sql, values, resolve: resolve as Read['resolve'], reject });
      // Node.js calls what nextTick is given when no promise is left that has been resolved: their callbacks may send reads too.
      if (waiting.length === 1) Promise.resolve().then(() => process.nextTick(flush));
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
 * Returns a connection whose reads may be sent together. They must name tables of accounts only, and return little. On a cluster, columns come as JSON: bytes
 * are text (`bytesFrom`). `direct` sends each read by itself where the machine refuses: the account is gone, or its shard was divided just now.
 */
export const readTogether = (
  db: AccountConnection & Pick<TakenConnection, 'isSpread'>,
  direct: AccountConnection,
): AccountConnection =>
  db.isSpread
    ? gathering(db.account, async (reads) => {
        const rows = await send(db, reads, { isUnwritten: false });
        return reads.map(({ sql, values }, nth) => rows?.[nth] ?? direct.all(sql, values));
      })
    : db;

/** Thrown where reads outside of a transaction are not enough. */
export class NeedsSnapshot extends Error {}

/**
 * As `readTogether`, for reads outside of a transaction that must be of one moment, at which the account has no writer. Throws NeedsSnapshot where it
 * has one, and for reads that are sent later than the first.
 */
export const readAtOnce = (db: AccountConnection): AccountConnection => {
  let isSent = false;
  return gathering(db.account, async (reads) => {
    if (isSent) throw new NeedsSnapshot();
    isSent = true;
    const rows = await send(db, reads, { isUnwritten: true });
    if (!rows) throw new NeedsSnapshot();
    return rows;
  });
};
