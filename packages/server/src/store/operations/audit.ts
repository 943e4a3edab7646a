/** Operations on the audit log. */
import { type AuditedName, toAuditRecords } from '../rules/accounts/audit.ts';
import type { AuditEntry, AuditRecord, RequestOf } from '../store.ts';
import { all, createQuery, db, first, type Operation, run, together } from './operation.ts';
import { accountUUIDsOf, tokenIDsOf } from './public-ids.ts';

/** For entries about the service itself, PostgreSQL stores account 0, and SQLite null. */
const serviceAccount = 0;
const insertEntry = createQuery<never>(
  ({ name }) => `
    INSERT INTO audit (account, token, action, subject, time)
    VALUES (${name === 'sqlite' ? `nullif($1, ${serviceAccount})` : '$1'}, $2, $3, $4, $5)`,
);

function* accountOfRecord({ account, accountUUID, accountOf }: AuditRecord): Operation<number> {
  if (account != null) return account;
  const row =
    accountUUID === undefined
      ? accountOf === undefined
        ? undefined
        : yield* first(db.selectFrom('token').select('account').where('tokenID', '=', accountOf))
      : yield* first(db.selectFrom('account').select('account').where('accountUUID', '=', accountUUID));
  return row?.account ?? serviceAccount;
}

export function* recordAudit(record: AuditRecord): Operation<void> {
  const { by, action, subject, time } = record;
  yield* run(insertEntry(yield* accountOfRecord(record), by, action, JSON.stringify(subject), time));
}

/** Records a write's audit entries. Run it in the write's transaction. */
export function* recordWrite(name: AuditedName, request: unknown, result: unknown): Operation<void> {
  for (const record of toAuditRecords(name, request, result)) yield* recordAudit(record);
}

type Row = Pick<AuditEntry, 'audit' | 'action' | 'time'> & {
  readonly account: number | null;
  readonly token: number | null;
  readonly subject: string;
};

const selectWhere = (condition: string) =>
  createQuery<Row>(
    () => `
      SELECT audit, account, token, action, subject, time FROM audit
      WHERE (CAST($1 AS bigint) IS NULL OR audit < $1) AND (CAST($2 AS bigint) IS NULL OR time >= $2)
        AND (CAST($3 AS bigint) IS NULL OR time < $3) AND (CAST($4 AS text) IS NULL OR action = $4) ${condition}
      ORDER BY audit DESC LIMIT $5`,
  );
const selectEntries = selectWhere('');
const selectEntriesOf = selectWhere('AND account = $6');

export function* listAudit(query: RequestOf<'listAudit'>): Operation<{ entries: AuditEntry[]; next: number | null }> {
  const { account, from, to, action, beyond, limit } = query;
  const filters = [beyond, from, to, action, limit];
  const rows = yield* all(account == null ? selectEntries(...filters) : selectEntriesOf(...filters, account));
  const [accountUUIDs, tokenIDs] = yield* together(
    accountUUIDsOf(rows.map((row) => row.account)),
    tokenIDsOf(rows.map(({ token }) => token)),
  );
  const entries = rows.map((row): AuditEntry => {
    const { audit, action, time } = row;
    const { tokenID: actor = null, memberID = null } = tokenIDs.get(row.token) ?? {};
    const accountUUID = accountUUIDs.get(row.account) ?? null;
    return { audit, accountUUID, actor, memberID, action, subject: JSON.parse(row.subject), time };
  });
  return { entries, next: rows.length < limit ? null : (entries.at(-1) as AuditEntry).audit };
}
