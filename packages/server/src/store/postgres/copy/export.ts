/** Reads a PostgreSQL database as SQLite's tables: sums rollups over slots, and returns values as columns. */
import type pg from 'pg';
import { plainFields } from '../../../identity/contact-view.ts';
import type { DatabaseExport, ExportedRow, ExportedTable } from '../../database-export.ts';
import { recordAudit } from '../../operations/audit.ts';
import type { EventRow } from '../../rules/event-row.ts';
import { tokenInKey } from '../../rules/idempotency-keys.ts';
import { StoreUnusable } from '../../unusable.ts';
import { bytesLeft } from '../accounts/usage.ts';
import {
  type Connection,
  codeOf,
  hasClients,
  hasDistributedTables,
  hasTable,
  lockKeys,
  openCopyConnection,
  type ScriptedConnection,
  skipLostNumbers,
  takeSlot,
  toScriptedConnection,
  waitUntilFree,
} from '../database/connection.ts';
import { getNewestMigration, readSchema } from '../database/migrate.ts';
import { within } from '../events/event-order.ts';
import { type StoredRow, toEvent } from '../events/event-presenter.ts';
import { runOperation } from '../transactions/operations.ts';

const rowsPerFetch = 1_000;
/** The number of sequences in a page's range. After a page of large events, the next page covers fewer. */
const sequencesPerPage = { min: 100, max: 1_000 };
/** If a page's bodies exceed this size, the next page is smaller. */
const bytesPerPage = 4 * 1024 * 1024;

const fieldColumns = plainFields.map((name) => `said -> 'fields' ->> '${name}' AS "${name}"`);

/** SQL for each table's rows. */
const rowsSQL: Readonly<Record<ExportedTable, string>> = {
  account: `
    SELECT account, "accountUUID", "accountName", "accountOrigin"::text, "accountTimezone", "accountCurrency",
      strict::integer, "browserCatalogue"::integer, enrich::integer, "defaultProfileID",
      "userIDIsEmailaddress"::integer, "createdTime", "nextEventID"
    FROM account JOIN account_position USING (account)`,
  token: `
    SELECT token, "tokenID", account, kind, "tokenName", hash, text, "createdTime", "createdBy", "expiresTime", session::integer,
      "lastUsedTime", "revokedTime", "memberID"
    FROM token`,
  member: `
    SELECT "memberID", account, kind, token, emailaddress, "memberName", password, "joinedTime", invitation, "invitationExpiresTime",
      "invitedBy", "createdTime", "confirmedTime", "confirmationSentTime"
    FROM member`,
  known_network: 'SELECT "memberID", network, "expiresTime" FROM known_network',
  passkey: `
    SELECT "passkeyID", "memberID", "passkeyName", origin, "credentialID", "publicKey", counter, transports, "createdTime", "lastUsedTime"
    FROM passkey`,
  audit: 'SELECT audit, nullif(account, 0) AS account, token, action, subject, time FROM audit',
  catalogue:
    'SELECT account, kind, id, name, browser::integer, "byBrowser"::integer, type, "mergedInto" FROM catalogue',
  import: `
    SELECT account, "importID", kind, "importName", fingerprint, position, "isComplete"::integer, imported, repeated, refused, kept,
      "createdTime", "undoneTime", erasure, "isUndoing"::integer
    FROM import`,
  import_stretch: 'SELECT account, "importID", after, through FROM import_stretch',
  import_contact:
    'SELECT account, "importID", contact, "isCreated"::integer, "updatedTime", changes FROM import_contact',
  report_segment: 'SELECT account, "segmentName", filter, "createdTime", "updatedTime" FROM report_segment',
  report_view: 'SELECT account, "viewName", page, query, "createdTime", "updatedTime" FROM report_view',
  goal: 'SELECT account, "goalID", "goalName", "eventID", "eventName", path, "attrID", "createdTime", "updatedTime" FROM goal',
  note: 'SELECT account, "noteID", "noteText", "noteTime", "createdTime" FROM note',
  share_link: `
    SELECT "shareID", account, hash, "shareName", page, "createdTime", "createdBy", "expiresTime", "lastUsedTime", view
    FROM share_link`,
  webhook: `
    SELECT "webhookID", account, url, description, types, filter, payload, state, "disabledReason", "secretTime", "previousSecretTime",
      "sentThrough", failures, "waitUntil", "lastSuccessTime", "lastFailureTime", "lastFailure", "leasedBy", "leasedUntil",
      "createdTime", "createdBy", "updatedTime", "skippedEvents", "skippedFrom", "skippedThrough"
    FROM webhook`,
  webhook_delivery: `
    SELECT account, "webhookID", sequence, attempts, "firstTime", "lastTime", "nextTime", "httpStatus", error, response
    FROM webhook_delivery`,
  webhook_fact: 'SELECT account, sequence, type, contact, other, "user", detail, time, "webhookID" FROM webhook_fact',
  webhook_audience: `
    SELECT account, audience, "webhookID", "segmentName", "nextTime", "comparedTime", contacts, problem
    FROM webhook_audience`,
  webhook_member: 'SELECT account, audience, contact FROM webhook_member',
  notification: `
    SELECT "notificationID", account, "notificationName", kind, settings, page, query, reports, recipients, state, "dueTime",
      "activeSince", "lastSentTime", "lastFailureTime", "lastFailure", "createdTime", "updatedTime"
    FROM notification`,
  notification_mail:
    'SELECT "mailID", account, "notificationID", "memberID", occasion, attempts, "nextTime" FROM notification_mail',
  // `days` is 0: the days between the first and last are unknown (store/sqlite/contacts/active-days.ts).
  user: 'SELECT "user", account, "userUUID", "firstDay", "lastDay", 0 AS days, "createdTime" FROM "user"',
  contact: `
    SELECT contact, account, "contactUUID", "contactExternalID", "externalIDClaim", "contactEmailaddress", ${fieldColumns.join(', ')}, "contactStatus",
      verified::integer, "mergedInto", "mergedTime", "firstDay", "lastDay", 0 AS days, "createdTime", "updatedTime"
    FROM contact`,
  contact_tag: `
    SELECT contact, tag ->> 0 AS "tagID", (tag ->> 1)::boolean::integer AS opt
    FROM contact, jsonb_array_elements(said -> 'tags') AS tag`,
  contact_attr: `
    SELECT contact, attr ->> 0 AS "attrID", attr ->> 1 AS "attrValue"
    FROM contact, jsonb_array_elements(said -> 'attributes') AS attr`,
  claim: `
    SELECT claim, "claimID", account, token, "user", contact, said::text, accepted::integer, voided::integer,
      "createdTime", "updatedTime"
    FROM claim`,
  statement: `
    SELECT sequence, "user", contact, verified::integer, voided, claim, token, erased::integer, time, "seenDay" FROM statement`,
  event_repeat: 'SELECT WHERE false',
  event_repeat_of_either: 'SELECT WHERE false',
  // Sorted in SQLite's order.
  erased_repeat: `
    SELECT day, uuid_send(key) AS hash FROM (SELECT day, key FROM event_repeat UNION ALL SELECT day, key FROM erased_repeat) AS r
    ORDER BY day, key`,
  request_repeat: `
    SELECT day, key::text AS "requestUUID", ${tokenInKey} AS token, "user", contact, claim, existed::integer
    FROM request_repeat`,
  event_total: `
    SELECT account, "eventID", quarter, sum(count)::bigint AS count, min("firstTime") AS "firstTime", max("lastTime") AS "lastTime"
    FROM event_total GROUP BY account, "eventID", quarter HAVING sum(count) > 0`,
  account_day: `
    SELECT account, day, sum(count)::bigint AS count, ${bytesLeft} AS bytes, min("firstSequence") AS "firstSequence",
      max("lastSequence") AS "lastSequence", min("firstTime") AS "firstTime", max("lastTime") AS "lastTime"
    FROM account_day GROUP BY account, day HAVING sum(count) > 0`,
  erasure:
    'SELECT erasure, account, "erasedTime", "deletedEvents", complete::integer, "verifiedOnly"::integer FROM erasure',
  erased_stretch: 'SELECT erasure, "user", after, through FROM erased_stretch',
  erased_contact: 'SELECT erasure, contact FROM erased_contact',
  erased_identifier: 'SELECT hash, erasure FROM erased_identifier',
  refused_request: `
    SELECT refused, token, operation, code, field, message, "refusedTime", bytes, address, input, sender, robot::integer
    FROM refused_request`,
  refused_count: 'SELECT token, listed, "listedBytes", evicted, erased, replayed FROM refused_count',
};

/** SQL for a page of a day's events. Uses the index by account, because no index orders all accounts' events. */
const eventsSQL = `
  SELECT * FROM event
  WHERE account = ANY ($1::integer[]) AND day = $2 AND ${within('account', '$3::bigint', '$4::bigint')} ORDER BY sequence LIMIT $5`;

async function* readRows(db: ScriptedConnection, table: ExportedTable): AsyncGenerator<ExportedRow[]> {
  await db.script(`DECLARE "held ${table}" NO SCROLL CURSOR FOR ${rowsSQL[table]}`);
  for (;;) {
    const [rows] = (await db.script(`FETCH ${rowsPerFetch} FROM "held ${table}"`)) as [ExportedRow[]];
    if (rows.length === 0) break;
    yield rows;
  }
  await db.script(`CLOSE "held ${table}"`);
}

/**
 * Yields the events day by day, which is sequence order, because days do not overlap. At the end, throws StoreUnusable
 * if a server or command is connected: that client might be waiting to write, and the copy would miss the write.
 */
async function* readEvents(db: ScriptedConnection, sequence: number): AsyncGenerator<EventRow[]> {
  // Otherwise, PostgreSQL might overestimate the size of a page and scan the whole partition.
  await db.script('SET LOCAL enable_seqscan = off');
  const days = await db.all<{ day: number; accounts: number[]; first: number; last: number }>(`
    SELECT day, array_agg(DISTINCT account) AS accounts, min("firstSequence") AS first, max("lastSequence") AS last
    FROM account_day GROUP BY day HAVING sum(count) > 0 ORDER BY day`);
  const { min, max } = sequencesPerPage;
  let perPage = min;
  for (const { day, accounts, first, last } of days) {
    let after = Math.max(sequence, first - 1);
    while (after < last) {
      const through = Math.min(last, after + perPage);
      // Limits a page that was enlarged to skip a gap, because many events might follow the gap.
      const limit = perPage > max ? min : max;
      const rows = await db.all<StoredRow>(eventsSQL, [accounts, day, after, through, limit]);
      yield rows.map(toEvent);
      after = rows[limit - 1]?.sequence ?? through;
      const bytes = rows.reduce((sum, { body }) => sum + body.length, 0);
      if (rows.length === 0) perPage *= 2;
      else if (perPage > max) perPage = min;
      else perPage = bytes > bytesPerPage ? Math.max(min, Math.floor(perPage / 4)) : Math.min(max, perPage * 2);
    }
  }
  if (await hasClients(db)) {
    throw new StoreUnusable(
      'a server or a command connected to the source database during the copy: stop it, and any program that restarts it, then copy again',
    );
  }
}

const tryLock = async (db: Connection): Promise<boolean> =>
  !(await hasClients(db)) &&
  (await db.one<{ isLocked: boolean }>(`SELECT pg_try_advisory_lock(${lockKeys.structure}) AS "isLocked"`)).isLocked;

/**
 * Blocks all writes by taking exclusively the lock that every write holds in shared mode. Throws StoreUnusable while a
 * server or command is connected, because that client would write after the export.
 */
const blockWrites = async (db: ScriptedConnection): Promise<void> => {
  // Locks on a standby would not block writes on its primary.
  if ((await db.one<{ isStandby: boolean }>('SELECT pg_is_in_recovery() AS "isStandby"')).isStandby) {
    throw new StoreUnusable('the source database is a standby: copy from its primary');
  }
  if (!(await waitUntilFree(() => tryLock(db)))) {
    throw new StoreUnusable('the source database is in use: stop all servers, commands and copies on it first');
  }
  if ((await readSchema(db)) < getNewestMigration()) {
    throw new StoreUnusable(
      'the source database has no Firsthand tables, or an older schema: check its URL, or start a server of this version on it, which updates the schema',
    );
  }
  if (await hasTable(db, 'copying')) {
    throw new StoreUnusable('a copy into the source database is not complete: run firsthand copy again to resume it');
  }
};

const readExport = async (client: pg.Client): Promise<DatabaseExport> => {
  const db = toScriptedConnection(client);
  await blockWrites(db);
  // Takes a slot, which shows other commands that the database is in use.
  await db.one(takeSlot);
  if (await hasDistributedTables(db)) await skipLostNumbers(client);
  await runOperation(db, recordAudit({ action: 'copy', subject: {}, by: null, time: Date.now() }));
  await db.script('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const position = await db.one<DatabaseExport['position']>(
    `SELECT last_value AS sequence, greatest(day, 0) AS day, greatest("clockDay", 0) AS "clockDay", secret
     FROM event_order, position, (SELECT max(day) AS day, max("clockDay") AS "clockDay" FROM account_position) AS days`,
  );
  const numbers = await db.one<DatabaseExport['numbers']>(`
    SELECT c.last_value AS contact, k.last_value AS claim, r.last_value AS refused_request
    FROM contact_number c, claim_number k, refused_number r`);
  return {
    position,
    numbers,
    rows: (table) => readRows(db, table),
    eventsAfter: (sequence) => readEvents(db, sequence),
    close: () => client.end(),
  };
};

/**
 * Opens an export and blocks all writes until it is closed. Throws StoreUnusable if a server or command is connected.
 * If one connects in the meantime, reading the last events throws StoreUnusable.
 */
export const openExport = async (databaseURL: string): Promise<DatabaseExport> => {
  const client = await openCopyConnection(databaseURL).catch((cause: unknown) => {
    if (cause instanceof StoreUnusable) throw cause;
    // The message omits the URL, which may contain a password.
    const reason = `${codeOf(cause)} ${(cause as Error).message}`.trim();
    throw new StoreUnusable(`the source database (--from) cannot be opened: ${reason}`, { cause });
  });
  try {
    return await readExport(client);
  } catch (error) {
    await client.end();
    throw error;
  }
};
