/** Refused requests: a bounded list for each token, and counts of the requests that were removed from it. */
import { setImmediate } from 'node:timers/promises';
import { together } from '../../operations/operation.ts';
import { accountUUIDsOf, tokenIDsOf } from '../../operations/public-ids.ts';
import { handleName } from '../../rules/erased-names.ts';
import { type Amount, chooseEvicted, getSurplus } from '../../rules/refused/eviction.ts';
import { createPersonSearch, findNamedContacts, type PersonNames } from '../../rules/refused/names.ts';
import type { RefusedBatch, RefusedCount, RefusedPage, RefusedQuery, RefusedRequest } from '../../store.ts';
import { type Connection, lockKeys } from '../database/connection.ts';
import { runOperation } from '../transactions/operations.ts';
import { drawNumbers } from '../transactions/sequencer.ts';
import type { Snapshot, Transaction } from '../transactions/transaction.ts';

type Fate = 'evicted' | 'erased' | 'replayed';

interface Listed {
  readonly refused: number;
  readonly token: number;
  readonly bytes: number;
}

const rowsPerTurn = 20;

const bytesOf = (rows: readonly Listed[]): number => rows.reduce((sum, { bytes }) => sum + bytes, 0);

/** Removes requests from their lists and updates the counts. Returns how many were still listed. */
const removeListed = async (db: Transaction, rows: readonly Listed[], fate: Fate): Promise<number> => {
  const removed = await db.all<Listed>(
    `DELETE FROM refused_request USING unnest($2::integer[], $3::bigint[]) AS gone (token, refused)
     WHERE refused_request.account = $1 AND refused_request.token = gone.token AND refused_request.refused = gone.refused
     RETURNING refused_request.token, refused_request.refused, bytes`,
    [db.account, rows.map(({ token }) => token), rows.map(({ refused }) => refused)],
  );
  const tokens = [...new Set(removed.map(({ token }) => token))].sort((a, b) => a - b);
  for (const token of tokens) {
    const ofToken = removed.filter((row) => row.token === token);
    await db.run(
      `UPDATE refused_count SET listed = listed - $3, "listedBytes" = "listedBytes" - $4, ${fate} = ${fate} + $3
       WHERE account = $1 AND token = $2`,
      [db.account, token, ofToken.length, bytesOf(ofToken)],
    );
  }
  return removed.length;
};

const evict = async (db: Transaction, token: number, surplus: Amount) => {
  const rows = await db.all<Listed & { sender: number }>(
    'SELECT refused, token, bytes, sender FROM refused_request WHERE account = $1 AND token = $2 ORDER BY refused',
    [db.account, token],
  );
  const bySender = new Map<number, Listed[]>();
  for (const row of rows) {
    const own = bySender.get(row.sender);
    if (own) own.push(row);
    else bySender.set(row.sender, [row]);
  }
  const shares = [...bySender].map(([sender, own]) => ({ sender, listed: own.length, bytes: bytesOf(own) }));
  const evicted = chooseEvicted(shares, surplus, (sender) => bySender.get(sender)?.shift());
  await removeListed(db, evicted, 'evicted');
};

/** Returns the erasure, if any, of a contact with one of these names. */
type FindErasure = (db: Transaction, ...names: readonly string[]) => Promise<unknown>;

export const createRefusedWriter = ({ findErasure }: { readonly findErasure: FindErasure }) => ({
  async addRefused(
    db: Transaction,
    { account, token, time, sender, robot = false, requests }: RefusedBatch,
  ): Promise<void> {
    // With this lock, an erasure is either visible to the check below or finds these requests on the list.
    await db.run(
      `SELECT pg_advisory_xact_lock_shared(${lockKeys.refused} + account) FROM account_position WHERE account = $1`,
      [account],
    );
    const accepted: RefusedBatch['requests'][number][] = [];
    for (const request of requests) {
      const names = findNamedContacts(request).flatMap((name) => [name, handleName(token, name)]);
      if (names.length === 0 || (await findErasure(db, ...names)) === undefined) accepted.push(request);
    }
    const inputs = accepted.map(({ input }) => JSON.stringify(input));
    const sizes = inputs.map((input) => Buffer.byteLength(input));
    // Updates the counts first, which locks them, so that concurrent requests with the same token take turns evicting.
    const counted = await db.one<Pick<RefusedCount, 'listed' | 'listedBytes'>>(
      `INSERT INTO refused_count (account, token, listed, "listedBytes", evicted, erased, replayed)
       VALUES ($1, $2, $3, $4, 0, $5, 0)
       ON CONFLICT (account, token) DO UPDATE SET listed = refused_count.listed + excluded.listed,
         "listedBytes" = refused_count."listedBytes" + excluded."listedBytes", erased = refused_count.erased + excluded.erased
       RETURNING listed, "listedBytes"`,
      [account, token, accepted.length, sizes.reduce((sum, size) => sum + size, 0), requests.length - accepted.length],
    );
    const numbers = await drawNumbers(db, 'refused_number', accepted.length);
    await db.run(
      `INSERT INTO refused_request
         (account, token, refused, operation, code, field, message, "refusedTime", bytes, address, input, sender, robot)
       SELECT p.account, $10, refused, operation, code, field, message, $11, bytes, address, input, $12, $13
       FROM account_position p,
         unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::integer[], $8::text[], $9::text[])
           AS new (refused, operation, code, field, message, bytes, address, input)
       WHERE p.account = $1`,
      [
        account,
        numbers,
        accepted.map(({ operation }) => operation),
        accepted.map(({ code }) => code),
        accepted.map(({ field = '' }) => field),
        accepted.map(({ message }) => message),
        sizes,
        accepted.map(({ address }) => address),
        inputs,
        token,
        time,
        sender,
        robot,
      ],
    );
    const surplus = getSurplus(counted);
    if (surplus) await evict(db, token, surplus);
  },

  /** Returns a request if it is listed. */
  find: (db: Transaction, refused: number): Promise<Listed | undefined> =>
    db.get<Listed>('SELECT refused, token, bytes FROM refused_request WHERE account = $1 AND refused = $2', [
      db.account,
      refused,
    ]),

  /** Removes a request that this transaction replays. Returns whether it was still listed. */
  takeReplayed: async (db: Transaction, listed: Listed): Promise<boolean> =>
    (await removeListed(db, [listed], 'replayed')) > 0,

  /** Removes a request from its list. Returns whether it was still listed. */
  discard: async (db: Transaction, listed: Listed): Promise<boolean> =>
    (await removeListed(db, [listed], 'evicted')) > 0,

  /** Removes all requests that name a person. Blocks additions to the account's lists until this transaction ends. */
  async erase(db: Transaction, names: PersonNames): Promise<void> {
    await db.run(
      `SELECT pg_advisory_xact_lock(${lockKeys.refused} + account) FROM account_position WHERE account = $1`,
      [db.account],
    );
    const person = createPersonSearch();
    person.add(names);
    const rows = await db.all<Listed & { input: string; message: string; address: string | null }>(
      'SELECT refused, token, bytes, input, message, address FROM refused_request WHERE account = $1',
      [db.account],
    );
    const named: Listed[] = [];
    for (const [nth, row] of rows.entries()) {
      if (person.isNamedIn(row)) named.push(row);
      // Yields to other requests, because the lists can contain megabytes.
      if (nth % rowsPerTurn === 0) await setImmediate();
    }
    await removeListed(db, named, 'erased');
  },

  /** Removes up to `limit` requests that were refused before a time; returns how many. */
  async evictBefore(db: Transaction, time: number, limit: number): Promise<number> {
    const rows = await db.all<Listed>(
      `SELECT refused, token, bytes FROM refused_request WHERE account = $1 AND "refusedTime" < $2
       ORDER BY "refusedTime" LIMIT $3`,
      [db.account, time, limit],
    );
    if (rows.length > 0) await removeListed(db, rows, 'evicted');
    return rows.length;
  },
});
export type RefusedWriter = ReturnType<typeof createRefusedWriter>;

/** Returns the accounts with requests that were refused before a time. */
export const listRefusedBefore = async (db: Connection, time: number): Promise<number[]> => {
  const sql = 'SELECT DISTINCT account FROM refused_request WHERE "refusedTime" < $1';
  return (await db.all<{ account: number }>(sql, [time])).map(({ account }) => account);
};

type Owner = Pick<RefusedRequest, 'account' | 'token'>;
type Named = Pick<RefusedRequest, 'accountUUID' | 'tokenID' | 'tokenKind' | 'tokenText'>;

/** Returns a function that looks up the public IDs of any of the `owners`. */
const readNames = async (db: Connection, owners: readonly Owner[]): Promise<(owner: Owner) => Named> => {
  const [accountUUIDs, tokenIDs] = await runOperation(
    db,
    together(accountUUIDsOf(owners.map(({ account }) => account)), tokenIDsOf(owners.map(({ token }) => token))),
  );
  return ({ account, token }) => {
    const { tokenID, tokenKind, tokenText } = tokenIDs.get(token) as Omit<Named, 'accountUUID'>;
    return { accountUUID: accountUUIDs.get(account) as string, tokenID, tokenKind, tokenText };
  };
};

/** Lists refused requests. `db` must be a snapshot at 'all refused settled', so that no page misses a request. */
export const listRefused = async (
  db: Snapshot,
  { account = null, beyond, limit }: RefusedQuery,
): Promise<RefusedPage> => {
  const rows = await db.all<Omit<RefusedRequest, 'input' | keyof Named> & Owner & { input: string }>(
    `SELECT r.refused, r.operation, r.input, r.code, r.field, r.message, r."refusedTime", r.robot, r.token, r.account
     FROM refused_request r
     WHERE r.refused > $1 AND r.refused <= $2 ${account === null ? '' : 'AND r.account = $4'} ORDER BY r.refused LIMIT $3`,
    [beyond, await db.settled, limit, ...(account === null ? [] : [account])],
  );
  const nameOf = await readNames(db, rows);
  const requests = rows.map((row): RefusedRequest => ({ ...row, ...nameOf(row), input: JSON.parse(row.input) }));
  return { requests, next: rows.length < limit ? null : (requests.at(-1) as RefusedRequest).refused };
};

export const countRefused = async (
  db: Connection,
  { account = null }: { account?: number | null },
): Promise<RefusedCount[]> => {
  const rows = await db.all<Omit<RefusedCount, 'accountUUID' | 'tokenID' | 'tokenKind'> & Owner>(
    `SELECT account, token, listed, "listedBytes", evicted, erased, replayed
     FROM refused_count ${account === null ? '' : 'WHERE account = $1'} ORDER BY token`,
    account === null ? [] : [account],
  );
  const nameOf = await readNames(db, rows);
  return rows.map(({ account, token, ...counts }) => {
    const { accountUUID, tokenID, tokenKind } = nameOf({ account, token });
    return { accountUUID, tokenID, tokenKind, ...counts };
  });
};
