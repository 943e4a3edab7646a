/** The audit log: stores and lists its entries. */
import { type AuditedName, recordsOf } from '../../rules/accounts/audit.ts';
import type { AuditEntry, AuditRecord, RequestOf, Store } from '../../store.ts';
import type { Connection } from '../database/connection.ts';

export const recordAudit = async (db: Pick<Connection, 'run'>, record: AuditRecord): Promise<void> => {
  const { account, accountUUID, accountOf, by, action, subject, time } = record;
  await db.run(
    `INSERT INTO audit (account, token, action, subject, time) VALUES (
       coalesce($1::integer, (SELECT account FROM account WHERE "accountUUID" = $2),
         (SELECT account FROM token WHERE "tokenID" = $3)),
       $4, $5, $6, $7)`,
    [account, accountUUID, accountOf, by, action, JSON.stringify(subject), time],
  );
};

/** Wraps a write so that it stores its audit entries in the same transaction. */
export const recording =
  <Db extends Connection, Request, Answer>(name: AuditedName, work: (db: Db, request: Request) => Promise<Answer>) =>
  async (db: Db, request: Request): Promise<Answer> => {
    const answer = await work(db, request);
    for (const record of recordsOf(name, request, answer)) await recordAudit(db, record);
    return answer;
  };

export const listAudit = async (
  db: Connection,
  { account, from, to, action, beyond, limit }: RequestOf<'listAudit'>,
): ReturnType<Store['listAudit']> => {
  const rows = await db.all<Omit<AuditEntry, 'subject'> & { subject: string }>(
    `SELECT e.audit, a."accountUUID", t."tokenID" AS actor, t."memberID", e.action, e.subject, e.time
     FROM audit e LEFT JOIN account a ON a.account = e.account LEFT JOIN token t ON t.token = e.token
     WHERE ($1::integer IS NULL OR e.account = $1) AND ($2::bigint IS NULL OR e.audit < $2)
       AND ($3::bigint IS NULL OR e.time >= $3) AND ($4::bigint IS NULL OR e.time < $4)
       AND ($5::text IS NULL OR e.action = $5)
     ORDER BY e.audit DESC LIMIT $6`,
    [account, beyond, from, to, action, limit],
  );
  const entries = rows.map((row): AuditEntry => ({ ...row, subject: JSON.parse(row.subject) }));
  return { entries, next: rows.length < limit ? null : (entries.at(-1) as AuditEntry).audit };
};
