/** Refused requests: a bounded list per token, and counts of their outcomes. */
import { type Amount, chooseEvicted, getSurplus, type SenderShare } from '../../rules/refused/eviction.ts';
import { findNamedContacts, type ListedText } from '../../rules/refused/names.ts';
import type { RefusedBatch, RefusedCount, RefusedPage, RefusedQuery, RefusedRequest } from '../../store.ts';
import type { ContactFinder } from '../contacts/contact-finder.ts';
import type { Connection } from '../database/connection.ts';
import { createErasingRefusedReader, type ListedBytes } from '../erasure/erasing-refused.ts';

type Removal = 'evicted' | 'erased' | 'replayed';

export const createRefusedWriter = (
  db: Connection,
  { findErasure, isErasedHandle }: Pick<ContactFinder, 'findErasure' | 'isErasedHandle'>,
) => {
  const erasing = createErasingRefusedReader(db);
  const insert = db.prepare(`
    INSERT INTO refused_request VALUES
    (NULL, @token, @operation, @code, @field, @message, @time, @size, @address, @input, @sender, @robot)`);
  const add = db.prepare<unknown[], Pick<RefusedCount, 'listed' | 'listedBytes'>>(`
    INSERT INTO refused_count VALUES (@token, @listed, @bytes, 0, @erased, 0)
    ON CONFLICT (token) DO UPDATE
    SET listed = listed + @listed, listedBytes = listedBytes + @bytes, erased = erased + @erased
    RETURNING listed, listedBytes`);
  const shares = db.prepare<[number], SenderShare>(`
    SELECT sender, count(*) AS listed, sum(bytes) AS bytes FROM refused_request WHERE token = ?
    GROUP BY sender ORDER BY min(refused)`);
  const oldest = db.prepare<[token: number, sender: number, beyond: number], ListedBytes>(`
    SELECT refused, token, bytes FROM refused_request WHERE token = ? AND sender = ? AND refused > ?
    ORDER BY refused LIMIT 1`);
  const find = db.prepare<[number], ListedBytes & ListedText & { account: number }>(`
    SELECT r.refused, r.token, r.bytes, r.input, r.message, r.address, t.account
    FROM refused_request r JOIN token t ON t.token = r.token WHERE r.refused = ?`);
  const before = db.prepare<[number, number], ListedBytes>(
    'SELECT refused, token, bytes FROM refused_request WHERE refusedTime < ? LIMIT ?',
  );
  const drop = db.prepare('DELETE FROM refused_request WHERE refused = ?');
  const move = db.prepare(`
    UPDATE refused_count SET listed = listed - 1, listedBytes = listedBytes - @bytes, evicted = evicted + @evicted,
      erased = erased + @erased, replayed = replayed + @replayed
    WHERE token = @token`);

  const removeFromList = ({ refused, token, bytes }: ListedBytes, removal: Removal) => {
    if (drop.run(refused).changes === 0) return;
    move.run({ token, bytes, evicted: 0, erased: 0, replayed: 0, [removal]: 1 });
  };

  const evict = (token: number, surplus: Amount) => {
    const lastEvicted = new Map<number, number>();
    const nextOldest = (sender: number) => {
      const row = oldest.get(token, sender, lastEvicted.get(sender) ?? 0);
      if (row) lastEvicted.set(sender, row.refused);
      return row;
    };
    for (const row of chooseEvicted(shares.all(token), surplus, nextOldest)) removeFromList(row, 'evicted');
  };

  return {
    addRefused({ account, token, time, sender, robot = false, requests }: RefusedBatch): void {
      const isErasedName = (name: string) =>
        findErasure(account, name) !== undefined || isErasedHandle(account, token, name);
      const listed = requests.filter((request) => !findNamedContacts(request).some(isErasedName));
      let bytes = 0;
      for (const request of listed) {
        const input = JSON.stringify(request.input);
        const size = Buffer.byteLength(input);
        const field = request.field ?? '';
        insert.run({ ...request, token, time, sender, robot: Number(robot), field, input, size });
        bytes += size;
      }
      const counted = add.get({ token, listed: listed.length, bytes, erased: requests.length - listed.length });
      const surplus = getSurplus(counted as NonNullable<typeof counted>);
      if (surplus) evict(token, surplus);
    },

    /** Removes a request that is replayed in the same transaction. Returns whether it was listed. */
    takeReplayed(refused: number): boolean {
      const row = find.get(refused);
      if (!row || erasing.withoutErased([row]).length === 0) return false;
      removeFromList(row, 'replayed');
      return true;
    },

    /** Removes a request. Returns whether it was listed. */
    discard(refused: number): boolean {
      const row = find.get(refused);
      if (row) removeFromList(row, 'evicted');
      return row !== undefined;
    },

    /** Removes a request that names an erased person. */
    takeErased: (row: ListedBytes): void => removeFromList(row, 'erased'),

    /** Removes up to `limit` requests that were refused before `time`. Returns the number removed. */
    evictBefore(time: number, limit: number): number {
      const rows = before.all(time, limit);
      for (const row of rows) removeFromList(row, 'evicted');
      return rows.length;
    },
  };
};
export type RefusedWriter = ReturnType<typeof createRefusedWriter>;

interface Row extends Omit<RefusedRequest, 'input' | 'robot'>, ListedText {
  readonly robot: 0 | 1;
}

export const createRefusedReader = (db: Connection) => {
  const erasing = createErasingRefusedReader(db);
  const page = db.prepare<{ account: number | null; beyond: number; limit: number }, Row>(`
    SELECT r.refused, r.operation, r.input, r.code, r.field, r.message, r.address, r.refusedTime, r.robot,
      t.token, t.tokenID, t.kind AS tokenKind, t.text AS tokenText, a.account, a.accountUUID
    FROM refused_request r JOIN token t ON t.token = r.token JOIN account a ON a.account = t.account
    WHERE r.refused > @beyond AND (@account IS NULL OR a.account = @account) ORDER BY r.refused LIMIT @limit`);
  const counts = db.prepare<{ account: number | null }, RefusedCount>(`
    SELECT a.accountUUID, t.tokenID, t.kind AS tokenKind, c.listed, c.listedBytes, c.evicted, c.erased, c.replayed
    FROM refused_count c JOIN token t ON t.token = c.token JOIN account a ON a.account = t.account
    WHERE @account IS NULL OR a.account = @account ORDER BY c.token`);
  return {
    listRefused({ account = null, beyond, limit }: RefusedQuery): RefusedPage {
      const rows = page.all({ account, beyond, limit });
      const requests = erasing.withoutErased(rows).map(({ address: _, ...row }): RefusedRequest => {
        return { ...row, input: JSON.parse(row.input), robot: row.robot === 1 };
      });
      return { requests, next: rows.length < limit ? null : (rows.at(-1) as Row).refused };
    },
    countRefused: ({ account = null }: { account?: number | null }): RefusedCount[] => counts.all({ account }),
  };
};
