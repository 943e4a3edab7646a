/** The audit log: stores and lists its entries. */
import { type AuditedName, toAuditRecords } from '../../rules/accounts/audit.ts';
import type { AuditEntry, AuditRecord, RequestOf, Store } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { accountUUIDsOf, tokenIDsOf } from './public-ids.ts';

/** The account of entries of the service itself. */
const serviceAccount = 0;

const accountOfRecord = async (
  db: Pick<Connection, 'get'>,
  { account, accountUUID, accountOf }: AuditRecord,
): Promise<number> => {
  if (account != null) return account;
  if (accountUUID === undefined && accountOf === undefined) return serviceAccount;
  const row = await db.get<{ account: number | null }>(
    `SELECT coalesce((SELECT account FROM account WHERE "accountUUID" = $1), (SELECT account FROM token WHERE "tokenID" = $2))
       AS account`,
    [accountUUID, accountOf],
  );
  return row?.account ?? serviceAccount;
};

export const recordAudit = async (db: Pick<Connection, 'get' | 'run'>, record: AuditRecord): Promise<void> => {
  const { by, action, subject, time } = record;
  await db.run('INSERT INTO audit (account, token, action, subject, time) VALUES ($1, $2, $3, $4, $5)', [
    await accountOfRecord(db, record),
    by,
    action,
    JSON.stringify(subject),
    time,
  ]);
};

/** Wraps a write so that it stores its audit entries in the same transaction. */
export const withAuditRecords =
  <Db extends Connection, Request, Answer>(name: AuditedName, work: (db: Db, request: Request) => Promise<Answer>) =>
  async (db: Db, request: Request): Promise<Answer> => {
    const answer = await work(db, request);
    for (const record of toAuditRecords(name, request, answer)) await recordAudit(db, record);
    return answer;
  };

interface AuditRow extends Pick<AuditEntry, 'audit' | 'action' | 'time'> {
  readonly account: number;
  readonly token: number | null;
  readonly subject: string;
}

export const listAudit = async (
  db: Connection,
  { account, from, to, action, beyond, limit }: RequestOf<'listAudit'>,
): ReturnType<Store['listAudit']> => {
  const rows = await db.all<AuditRow>(
    `SELECT e.audit, e.account, e.token, e.action, e.subject, e.time FROM audit e
     WHERE ($1::bigint IS NULL OR e.audit < $1)
       AND ($2::bigint IS NULL OR e.time >= $2) AND ($3::bigint IS NULL OR e.time < $3)
       AND ($4::text IS NULL OR e.action = $4) ${account === undefined ? '' : 'AND e.account = $6'}
     ORDER BY e.audit DESC LIMIT $5`,
    [beyond, from, to, action, limit, ...(account === undefined ? [] : [account])],
  );
  const [accountUUIDs, tokenIDs] = await Promise.all([
    accountUUIDsOf(
      db,
      rows.map((row) => row.account),
    ),
    tokenIDsOf(
      db,
      rows.map(({ token }) => token),
    ),
  ]);
  const entries = rows.map(({ account: number, token, subject, ...row }): AuditEntry => {
    const { tokenID: actor = null, memberID = null } = tokenIDs.get(token ?? 0) ?? {};
    return { ...row, accountUUID: accountUUIDs.get(number) ?? null, actor, memberID, subject: JSON.parse(subject) };
  });
  return { entries, next: rows.length < limit ? null : (entries.at(-1) as AuditEntry).audit };
};
