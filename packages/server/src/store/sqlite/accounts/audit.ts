import { auditedNames, toAuditRecords } from '../../rules/accounts/audit.ts';
import type { AuditEntry, AuditRecord, RequestOf } from '../../store.ts';
import type { Writes } from '../calls.ts';
import type { Connection } from '../database/connection.ts';

export const createAuditWriter = (db: Connection) => {
  const insert = db.prepare(`
    INSERT INTO audit (account, token, action, subject, time) VALUES (
      coalesce(@account, (SELECT account FROM account WHERE accountUUID = @accountUUID),
        (SELECT account FROM token WHERE tokenID = @accountOf)),
      @by, @action, @subject, @time)`);

  const recordAudit = (record: AuditRecord): void => {
    insert.run({
      account: null,
      accountUUID: null,
      accountOf: null,
      ...record,
      subject: JSON.stringify(record.subject),
    });
  };

  return {
    recordAudit,
    /** Wraps the audited writes, so that they also record their entries. */
    withAudit(writes: Writes): Writes {
      const audited = auditedNames.map((name) => [
        name,
        (request: never) => {
          const result = writes[name](request);
          for (const record of toAuditRecords(name, request, result)) recordAudit(record);
          return result;
        },
      ]);
      return { ...writes, ...Object.fromEntries(audited) };
    },
  };
};

const noFilters = { account: null, from: null, to: null, action: null, beyond: null };

export const createAuditReader = (db: Connection) => {
  const list = db.prepare<unknown[], Omit<AuditEntry, 'subject'> & { subject: string }>(`
    SELECT e.audit, a.accountUUID, t.tokenID AS actor, t.memberID, e.action, e.subject, e.time
    FROM audit e LEFT JOIN account a ON a.account = e.account LEFT JOIN token t ON t.token = e.token
    WHERE (@account IS NULL OR e.account = @account) AND (@beyond IS NULL OR e.audit < @beyond)
      AND (@from IS NULL OR e.time >= @from) AND (@to IS NULL OR e.time < @to) AND (@action IS NULL OR e.action = @action)
    ORDER BY e.audit DESC LIMIT @limit`);

  return {
    listAudit(query: RequestOf<'listAudit'>) {
      const rows = list.all({ ...noFilters, ...query });
      const entries = rows.map((row): AuditEntry => ({ ...row, subject: JSON.parse(row.subject) }));
      return { entries, next: rows.length < query.limit ? null : (entries.at(-1) as AuditEntry).audit };
    },
  };
};
