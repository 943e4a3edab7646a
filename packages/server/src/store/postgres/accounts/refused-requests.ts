/** Refused requests: a bounded list for each token, and counts of what happened to the requests that are no longer on it. */
import { setImmediate } from 'node:timers/promises';
import { handleName } from '../../rules/erased-names.ts';
import { type Amount, chooseEvicted, surplusOf } from '../../rules/refused/eviction.ts';
import { contactsNamedBy, createPersonSearch, type PersonNames } from '../../rules/refused/names.ts';
import type { RefusedBatch, RefusedCount, RefusedPage, RefusedQuery, RefusedRequest } from '../../store.ts';
import type { ContactFinder } from '../contacts/contact-finder.ts';
import { type Connection, lockKeys } from '../database/connection.ts';
import type { Snapshot, Transaction } from '../transactions/transaction.ts';

type Fate = 'evicted' | 'erased' | 'replayed';

interface Listed {
  readonly refused: number;
  readonly token: number;
  readonly bytes: number;
}

const rowsPerLook = 20;

const bytesOf = (rows: readonly Listed[]): number => rows.reduce((sum, { bytes }) => sum + bytes, 0);

/** Removes requests from their lists and updates the counts. Returns how many were still listed. */
const takeOff = async (db: Transaction, rows: readonly Listed[], fate: Fate): Promise<number> => {
  const gone = await db.all<Listed>(
    `DELETE FROM refused_request USING unnest($1::integer[], $2::bigint[]) AS gone (token, refused)
     WHERE refused_request.token = gone.token AND refused_request.refused = gone.refused
     RETURNING refused_request.token, refused_request.refused, bytes`,
    [rows.map(({ token }) => token), rows.map(({ refused }) => refused)],
  );
  const tokens = [...new Set(gone.map(({ token }) => token))].sort((a, b) => a - b);
  for (const token of tokens) {
    const ofToken = gone.filter((row) => row.token === token);
    await db.run(
      `UPDATE refused_count SET listed = listed - $2, "listedBytes" = "listedBytes" - $3, ${fate} = ${fate} + $2
       WHERE token = $1`,
      [token, ofToken.length, bytesOf(ofToken)],
    );
  }
  return gone.length;
};

const evict = async (db: Transaction, token: number, surplus: Amount) => {
  const rows = await db.all<Listed & { sender: number }>(
    'SELECT refused, token, bytes, sender FROM refused_request WHERE token = $1 ORDER BY refused',
    [token],
  );
  const bySender = new Map<number, Listed[]>();
  for (const row of rows) {
    const own = bySender.get(row.sender);
    if (own) own.push(row);
    else bySender.set(row.sender, [row]);
  }
  const shares = [...bySender].map(([sender, own]) => ({ sender, listed: own.length, bytes: bytesOf(own) }));
  const evicted = chooseEvicted(shares, surplus, (sender) => bySender.get(sender)?.shift());
  await takeOff(db, evicted, 'evicted');
};

export const createRefusedWriter = ({ findErasure }: Pick<ContactFinder, 'findErasure'>) => ({
  async keepRefused(
    db: Transaction,
    { account, token, time, sender, robot = false, requests }: RefusedBatch,
  ): Promise<void> {
    // With this lock, an erasure either is visible to the check below or finds these requests on the list.
    await db.run(`SELECT pg_advisory_xact_lock_shared(${lockKeys.refused} + $1)`, [account]);
    const kept: RefusedBatch['requests'][number][] = [];
    for (const request of requests) {
      const names = contactsNamedBy(request).flatMap((name) => [name, handleName(token, name)]);
      if (names.length === 0 || (await findErasure(db, account, ...names)) === undefined) kept.push(request);
    }
    const inputs = kept.map(({ input }) => JSON.stringify(input));
    const sizes = inputs.map((input) => Buffer.byteLength(input));
    // This comes first because it locks the token's counts: parallel requests of the token evict one after the other.
    const counted = await db.one<Pick<RefusedCount, 'listed' | 'listedBytes'>>(
      `INSERT INTO refused_count (token, listed, "listedBytes", evicted, erased, replayed) VALUES ($1, $2, $3, 0, $4, 0)
       ON CONFLICT (token) DO UPDATE SET listed = refused_count.listed + excluded.listed,
         "listedBytes" = refused_count."listedBytes" + excluded."listedBytes", erased = refused_count.erased + excluded.erased
       RETURNING listed, "listedBytes"`,
      [token, kept.length, sizes.reduce((sum, size) => sum + size, 0), requests.length - kept.length],
    );
    await db.run(
      `INSERT INTO refused_request (token, refused, operation, code, field, message, "refusedTime", bytes, address, input, sender, robot)
       SELECT $1, nextval('refused_number'), operation, code, field, message, $2, bytes, address, input, $10, $11
       FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::integer[], $8::text[], $9::text[])
         WITH ORDINALITY AS new (operation, code, field, message, bytes, address, input, nth) ORDER BY nth`,
      [
        token,
        time,
        kept.map(({ operation }) => operation),
        kept.map(({ code }) => code),
        kept.map(({ field = '' }) => field),
        kept.map(({ message }) => message),
        sizes,
        kept.map(({ address }) => address),
        inputs,
        sender,
        robot,
      ],
    );
    const surplus = surplusOf(counted);
    if (surplus) await evict(db, token, surplus);
  },

  /** Returns a request, if it is listed. */
  find: (db: Transaction, refused: number): Promise<Listed | undefined> =>
    db.get<Listed>('SELECT refused, token, bytes FROM refused_request WHERE refused = $1', [refused]),

  /** Removes a request from its list, because this transaction executes it. Returns whether it was still listed. */
  takeReplayed: async (db: Transaction, listed: Listed): Promise<boolean> =>
    (await takeOff(db, [listed], 'replayed')) > 0,

  /** Removes all requests that name a person. Locks the account's lists against additions until this transaction ends. */
  async erase(db: Transaction, account: number, names: PersonNames): Promise<void> {
    await db.run(`SELECT pg_advisory_xact_lock(${lockKeys.refused} + $1)`, [account]);
    const person = createPersonSearch();
    person.add(names);
    const rows = await db.all<Listed & { input: string; message: string; address: string | null }>(
      `SELECT r.refused, r.token, r.bytes, r.input, r.message, r.address
       FROM token t JOIN refused_request r ON r.token = t.token WHERE t.account = $1`,
      [account],
    );
    const named: Listed[] = [];
    for (const [nth, row] of rows.entries()) {
      if (person.isNamedIn(row)) named.push(row);
      // Yields to other requests, because the lists may hold megabytes.
      if (nth % rowsPerLook === 0) await setImmediate();
    }
    await takeOff(db, named, 'erased');
  },

  /** Removes up to `most` requests that were refused before a time. */
  async evictBefore(db: Transaction, time: number, most: number): Promise<void> {
    const rows = await db.all<Listed>(
      'SELECT refused, token, bytes FROM refused_request WHERE "refusedTime" < $1 LIMIT $2',
      [time, most],
    );
    if (rows.length > 0) await takeOff(db, rows, 'evicted');
  },
});
export type RefusedWriter = ReturnType<typeof createRefusedWriter>;

/** Lists refused requests. `db` must have all refused requests settled, so that pages miss none. */
export const listRefused = async (
  db: Snapshot,
  { account = null, beyond, limit }: RefusedQuery,
): Promise<RefusedPage> => {
  const rows = await db.all<Omit<RefusedRequest, 'input'> & { input: string }>(
    `SELECT r.refused, r.operation, r.input, r.code, r.field, r.message, r."refusedTime", r.robot,
       t.token, t."tokenID", t.kind AS "tokenKind", t.text AS "tokenText", a.account, a."accountUUID"
     FROM refused_request r JOIN token t ON t.token = r.token JOIN account a ON a.account = t.account
     WHERE r.refused > $2 AND r.refused <= $3 AND ($1::integer IS NULL OR a.account = $1) ORDER BY r.refused LIMIT $4`,
    [account, beyond, await db.settled, limit],
  );
  const requests = rows.map((row): RefusedRequest => ({ ...row, input: JSON.parse(row.input) }));
  return { requests, next: rows.length < limit ? null : (requests.at(-1) as RefusedRequest).refused };
};

export const countRefused = (
  db: Connection,
  { account = null }: { account?: number | null },
): Promise<RefusedCount[]> =>
  db.all<RefusedCount>(
    `SELECT a."accountUUID", t."tokenID", t.kind AS "tokenKind", c.listed, c."listedBytes", c.evicted, c.erased, c.replayed
     FROM refused_count c JOIN token t ON t.token = c.token JOIN account a ON a.account = t.account
     WHERE $1::integer IS NULL OR a.account = $1 ORDER BY c.token`,
    [account],
  );
