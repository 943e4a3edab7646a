/** Erases contacts: one commit hides a contact from every read, and later steps delete its events. */
import { setImmediate } from 'node:timers/promises';
import { stretchesOwnedBy } from '../../../identity/ownership.ts';
import { recordErasedContacts } from '../../operations/facts.ts';
import { forgetKeys } from '../../operations/imports.ts';
import {
  beginUndo,
  continueContacts,
  continueStretch,
  findImportToUndo,
  findStretch,
  findUndoing,
  type UndoParts,
} from '../../operations/undo-import.ts';
import { recordSkippedEvents } from '../../operations/webhooks.ts';
import type { ClaimRow } from '../../rules/claims.ts';
import { isExternalIDVerified } from '../../rules/contact-keys.ts';
import { claimName, handleName } from '../../rules/erased-names.ts';
import type { StatementRow } from '../../rules/links.ts';
import type { CountedEvent } from '../../rules/rollups.ts';
import type { ErasureReceipt, Import, NewErasure, RequestOf } from '../../store.ts';
import type { RefusedWriter } from '../accounts/refused-requests.ts';
import type { ContactFinder } from '../contacts/contact-finder.ts';
import type { ContactRow } from '../contacts/contact-rows.ts';
import { createContactStore, createSequenceSource } from '../contacts/contacts.ts';
import { createLinkStore } from '../contacts/links.ts';
import { groupOf } from '../contacts/merges.ts';
import type { RequestRepeats } from '../contacts/request-repeats.ts';
import { lockPerson } from '../contacts/row-locks.ts';
import { statementsOf } from '../contacts/statements.ts';
import { type Users, userUUIDsOf } from '../contacts/users.ts';
import { setLocally } from '../database/connection.ts';
import type { Dedup } from '../events/dedup.ts';
import { readBody } from '../events/event-body.ts';
import { inGroups, orderedEventSettings, within } from '../events/event-order.ts';
import { findOldEvents } from '../events/old-events.ts';
import { subtractFromRollups } from '../events/rollups.ts';
import { runOperation } from '../transactions/operations.ts';
import { readSettled } from '../transactions/sequencer.ts';
import type { Transaction } from '../transactions/transaction.ts';

const eventsPerStep = 1_000;
const linksPerStep = 500;
/** A step of this size takes about a millisecond. */
const hashesPerTurn = 100;

interface ErasedClaim extends Pick<ClaimRow, 'claimID' | 'token' | 'user'> {
  readonly address: string | null;
  readonly externalID: string | null;
}

const readReceipt = async (db: Transaction, erasure: number, contactUUID: string): Promise<ErasureReceipt> => {
  const receipt = await db.one<Omit<ErasureReceipt, 'contactUUID'>>(
    'SELECT "erasedTime", "deletedEvents", complete FROM erasure WHERE account = $1 AND erasure = $2',
    [db.account, erasure],
  );
  return { contactUUID, ...receipt };
};

/**
 * Records the stretches of user histories that the group's contacts own. Reads hide these events until they are
 * deleted.
 */
const eraseStretches = async (
  db: Transaction,
  { erasure, group, verifiedOnly }: { erasure: number; group: readonly number[]; verifiedOnly: boolean },
  statements: ReadonlyMap<number, readonly StatementRow[]>,
) => {
  const { last } = await db.one<{ last: number }>('SELECT last_value AS last FROM event_order');
  const stretches = [...statements].flatMap(([user, list]) =>
    stretchesOwnedBy(group, list, { verifiedOnly, last }).map((stretch) => ({ ...stretch, user })),
  );
  await db.run(
    `INSERT INTO erased_stretch (account, "user", erasure, after, through)
     SELECT p.account, "user", $5, after, through
     FROM account_position p, unnest($2::bigint[], $3::bigint[], $4::bigint[]) AS new ("user", after, through)
     WHERE p.account = $1`,
    [
      db.account,
      stretches.map(({ user }) => user),
      stretches.map(({ after }) => after),
      stretches.map(({ through }) => through),
      erasure,
    ],
  );
};

/** Turns links into unlinks, permanently. Copies the marks of their claims to them, because the claims are deleted. */
const unlink = (db: Transaction, links: readonly StatementRow[]) => {
  const sequencesOf = (isMarked: (link: StatementRow) => boolean) =>
    links.filter(isMarked).map(({ sequence }) => sequence);
  return db.run(
    `UPDATE statement SET contact = NULL, claim = NULL, erased = true,
       voided = CASE WHEN sequence = ANY ($4::bigint[]) THEN 1 ELSE 0 END, verified = sequence = ANY ($5::bigint[])
     WHERE account = $1 AND "user" = ANY ($2::bigint[]) AND sequence = ANY ($3::bigint[])`,
    [
      db.account,
      [...new Set(links.map(({ user }) => user))],
      sequencesOf(() => true),
      sequencesOf(({ voided }) => voided),
      sequencesOf(({ verified }) => verified),
    ],
  );
};

type ErasedRow = Pick<ContactRow, 'contact' | 'contactUUID' | 'contactEmailaddress' | 'contactExternalID'>;

/** Deletes all rows about the group's contacts except their events. */
const deleteContactRows = (db: Transaction, rows: readonly ErasedRow[], claims: readonly ErasedClaim[]) => {
  const group = rows.map(({ contact }) => contact);
  const drop = (table: string, condition: string, ...values: unknown[]) =>
    db.run(`DELETE FROM ${table} WHERE account = $1 AND ${condition}`, [db.account, ...values]);
  return Promise.all([
    drop('claim', 'contact = ANY ($2::bigint[])', group),
    drop(
      'claim_name',
      '"claimID" = ANY ($2::text[])',
      claims.map(({ claimID }) => claimID),
    ),
    drop('import_contact', 'contact = ANY ($2::bigint[])', group),
    drop('contact_user', 'contact = ANY ($2::bigint[])', group),
    drop('merged_contact', 'contact = ANY ($2::bigint[])', group),
    drop(
      'contact_name',
      '"contactUUID" = ANY ($2::text[])',
      rows.map(({ contactUUID }) => contactUUID),
    ),
    drop(
      'contact_address',
      '"contactEmailaddress" = ANY ($2::text[]) AND contact = ANY ($3::bigint[])',
      rows.map(({ contactEmailaddress }) => contactEmailaddress),
      group,
    ),
    drop(
      'contact_external_id',
      '"contactExternalID" = ANY ($2::text[]) AND contact = ANY ($3::bigint[])',
      rows.map(({ contactExternalID }) => contactExternalID),
      group,
    ),
    drop('contact', 'contact = ANY ($2::bigint[])', group),
  ]);
};

/** The request to delete one account's old events and refused requests. */
export type OldOfAccount = Omit<RequestOf<'deleteEventsBefore'>, 'limit'> &
  Record<'account' | 'maxEvents' | 'maxRefused', number>;

interface ErasureParts {
  readonly finder: ContactFinder;
  readonly repeats: RequestRepeats;
  readonly refused: RefusedWriter;
  readonly users: Users;
  readonly dedup: Dedup;
}

const insertErasure = `
  INSERT INTO erasure (account, erasure, "erasedTime", "deletedEvents", complete, "verifiedOnly")
  VALUES ($1, nextval('erasure_number'), $2, 0, false, $3) RETURNING erasure`;

/**
 * Deletes events whose sequences are close to each other, of one holder or of any holder. Returns the number of deleted
 * events.
 */
const deleteEvents = async (
  db: Transaction,
  holder: number | undefined,
  events: readonly { readonly sequence: number; readonly day: number }[],
): Promise<number> => {
  if (events.length === 0) return 0;
  const sequences = events.map(({ sequence }) => sequence);
  const days = events.map(({ day }) => day);
  const [first, last] = [Math.min(...sequences), Math.max(...sequences)];
  const by = holder === undefined ? 'account' : 'holder';
  const deleted = await db.all<CountedEvent>(
    `DELETE FROM event
     WHERE account = $1 AND ${within(by, '$2::bigint', '$3::bigint')} AND sequence = ANY ($4::bigint[])
       AND day >= $5 AND day <= $6 ${holder === undefined ? '' : 'AND holder = $7'}
     RETURNING account, day, sequence, "eventID", "eventTime"`,
    [
      ...[db.account, first - 1, last, sequences, Math.min(...days), Math.max(...days)],
      ...(holder === undefined ? [] : [holder]),
    ],
  );
  await subtractFromRollups(db, deleted);
  return deleted.length;
};

const addDeleted = (db: Transaction, erasure: number, deleted: number) =>
  db.run('UPDATE erasure SET "deletedEvents" = "deletedEvents" + $3 WHERE account = $1 AND erasure = $2', [
    db.account,
    erasure,
    deleted,
  ]);

/** Returns the keyed hashes of names. Yields to other requests, because there can be thousands of names. */
const hashesOf = async ({ finder }: ErasureParts, account: number, names: readonly string[]): Promise<Buffer[]> => {
  const hashes: Buffer[] = [];
  for (const name of names) {
    if (hashes.length % hashesPerTurn === 0) await setImmediate();
    hashes.push(finder.hashOf(account, name));
  }
  return hashes;
};

/** Erases one person's contacts; returns the erasure's row number. */
const eraseGroup = async (
  parts: ErasureParts,
  db: Transaction,
  group: readonly number[],
  { time, verifiedOnly = false }: Pick<NewErasure, 'time' | 'verifiedOnly'>,
): Promise<number> => {
  const { repeats, refused } = parts;
  const { account } = db;
  const { rows, users } = await lockPerson(db, group);
  const [{ erasure }, claims, statements] = await Promise.all([
    db.one<{ erasure: number }>(insertErasure, [account, time, verifiedOnly]),
    db.all<ErasedClaim>(
      `SELECT "claimID", token, "user", said -> 'fields' ->> 'contactEmailaddress' AS address,
         said -> 'fields' ->> 'contactExternalID' AS "externalID"
       FROM claim WHERE account = $1 AND contact = ANY ($2::bigint[])`,
      [account, group],
    ),
    statementsOf(db, users),
  ]);
  await eraseStretches(db, { erasure, group, verifiedOnly }, statements);
  await db.run(
    `INSERT INTO erased_contact (account, contact, erasure)
     SELECT account, unnest($2::bigint[]), $3 FROM account_position WHERE account = $1`,
    [account, group, erasure],
  );
  const members = new Set<number | null>(group);
  const links = [...statements.values()].flat().filter(({ contact }) => members.has(contact));
  const linked = links.flatMap(({ user, verified }) => (verified || !verifiedOnly ? user : []));
  const claimants = verifiedOnly ? [] : claims.map(({ user }) => user);
  const claimedIDs = claims.flatMap(({ externalID }) => externalID || []);
  // Excludes a claimed external ID that is another contact's key, because it identifies that contact, not this one.
  const otherKeys = await db.all<{ externalID: string }>(
    `SELECT "contactExternalID" AS "externalID" FROM contact_external_id
     WHERE account = $1 AND "contactExternalID" = ANY ($2::text[]) AND contact <> ALL ($3::bigint[])`,
    [account, claimedIDs, group],
  );
  const idsOfOthers = new Set(otherKeys.map(({ externalID }) => externalID));
  await refused.erase(db, {
    addresses: [
      ...rows.flatMap(({ contactEmailaddress }) => contactEmailaddress ?? []),
      ...claims.flatMap(({ address }) => address ?? []),
    ],
    externalIDs: rows.flatMap((row) => (isExternalIDVerified(row) && row.contactExternalID) || []),
    claimedIDs: claimedIDs.filter((externalID) => !idsOfOthers.has(externalID)),
    contactUUIDs: rows.map(({ contactUUID }) => contactUUID),
    handles: claims.map(({ claimID }) => claimID),
    userUUIDs: [...(await userUUIDsOf(db, [...linked, ...claimants])).values()],
  });
  const names = [
    ...rows.map(({ contactUUID }) => contactUUID),
    ...claims.flatMap(({ token, claimID }) => [handleName(token, claimID), claimName(claimID)]),
    ...(await repeats.eraseOf(db, group)),
  ];
  await db.run(
    `INSERT INTO erased_identifier (account, hash, erasure)
     SELECT account, unnest($2::bytea[]), $3 FROM account_position WHERE account = $1 ON CONFLICT DO NOTHING`,
    [account, await hashesOf(parts, account, names), erasure],
  );
  await unlink(db, links);
  await runOperation(db, forgetKeys(account, rows));
  await runOperation(db, recordErasedContacts(createSequenceSource(db), account, rows, time));
  await deleteContactRows(db, rows, claims);
  return erasure;
};

const undoPartsOf = ({ finder, repeats }: ErasureParts, db: Transaction): UndoParts => ({
  contacts: createContactStore(db, finder),
  async findEvent(contact) {
    const sql = 'SELECT EXISTS (SELECT FROM event WHERE account = $1 AND holder = -$2::bigint) AS "hasEvent"';
    return { ...(await db.one<{ hasEvent: boolean }>(sql, [db.account, contact])), cost: 1 };
  },
  async deleteContact(row) {
    await repeats.eraseOf(db, [row.contact]);
    await deleteContactRows(db, [row], []);
  },
});

/** Deletes some of an undone import's events, links or contacts. Returns whether there was anything to do. */
const continueUndo = async (parts: ErasureParts, db: Transaction): Promise<boolean> => {
  const { users, dedup } = parts;
  const undoing = await runOperation(db, findUndoing(db.account));
  if (!undoing) return false;
  const stretch = await runOperation(db, findStretch(undoing));
  if (!stretch) {
    // Runs exclusively, so that nothing else uses or changes the contacts between the check and the deletion.
    db.requireExclusive();
    await runOperation(db, continueContacts(undoPartsOf(parts, db), undoing));
    return true;
  }
  await setLocally(db, orderedEventSettings);
  const events = await db.all<{ sequence: number; day: number; holder: number; eventTime: number; body: Buffer }>(
    `SELECT sequence, day, holder, "eventTime", body FROM event
     WHERE account = $1 AND ${within('account', '$2::bigint', '$3::bigint')}
     ORDER BY ${inGroups('account')} LIMIT ${eventsPerStep}`,
    [db.account, stretch.after, stretch.through],
  );
  const sent = events.map(({ holder, body, eventTime }) => ({ holder, ...readBody(body, eventTime) }));
  // Drops the keys, so that the file can be imported again.
  await dedup.dropKeys(db, sent);
  await addDeleted(db, undoing.erasure, await deleteEvents(db, undefined, events));
  if (events.length < eventsPerStep)
    await runOperation(db, continueStretch(createLinkStore(db, users), undoing, stretch, linksPerStep));
  return true;
};

export const createErasures = (parts: ErasureParts) => {
  const { finder, refused } = parts;
  return {
    /** Starts to undo an import. A repeated request only returns the progress. */
    async undoImport(db: Transaction, request: RequestOf<'undoImport'>): Promise<Import> {
      const existing = await runOperation(db, findImportToUndo(request));
      if (existing.undoneTime !== null) return existing;
      const { erasure } = await db.one<{ erasure: number }>(insertErasure, [db.account, request.time, false]);
      return runOperation(db, beginUndo(request, erasure));
    },

    /** Erases a contact and all contacts merged with it. A repeated request only returns the progress. */
    async eraseContact(db: Transaction, { time, verifiedOnly, ...name }: NewErasure): Promise<ErasureReceipt> {
      const { contactUUID } = name;
      const row = contactUUID === undefined ? undefined : await finder.byUUID(db, contactUUID);
      // Reads the erasure after the row: if the row is gone, the erasure that deleted it is then visible.
      const erased = contactUUID === undefined || row ? undefined : await finder.findErasure(db, contactUUID);
      if (erased !== undefined) return readReceipt(db, erased, contactUUID as string);
      const named = row ?? (await finder.byName(db, name));
      const erasure = await eraseGroup(parts, db, await groupOf(db, named.contact), { time, verifiedOnly });
      return readReceipt(db, erasure, named.contactUUID);
    },

    /** Deletes up to `eventsPerStep` events of an account's erased contacts. Returns whether more remain. */
    async continueErasures(db: Transaction): Promise<boolean> {
      // Processes a stretch only once its sequences are settled, because events that are still uncommitted must be
      // deleted too. Until then, reads hide its events.
      const { settled } = await readSettled(db, db.account);
      const next = await db.get<{ erasure: number; holder: number; after: number; through: number }>(
        `SELECT erasure, "user" AS holder, after, through FROM erased_stretch WHERE account = $1 AND through <= $2
         UNION ALL SELECT erasure, -contact, 0, ${Number.MAX_SAFE_INTEGER} FROM erased_contact WHERE account = $1 LIMIT 1`,
        [db.account, settled],
      );
      if (!next) {
        if (await continueUndo(parts, db)) return true;
        await db.run(
          `UPDATE erasure SET complete = true
           WHERE account = $1 AND NOT complete
             AND NOT EXISTS (SELECT FROM erased_stretch s WHERE s.account = $1 AND s.erasure = erasure.erasure)
             AND NOT EXISTS (SELECT FROM erased_contact c WHERE c.account = $1 AND c.erasure = erasure.erasure)`,
          [db.account],
        );
        return false;
      }
      const { erasure, holder, after, through } = next;
      await setLocally(db, orderedEventSettings);
      const events = await db.all<{ sequence: number; day: number }>(
        `SELECT sequence, day FROM event WHERE account = $1 AND holder = $2 AND ${within('holder', '$3::bigint', '$4::bigint')}
         ORDER BY ${inGroups('holder')} LIMIT ${eventsPerStep}`,
        [db.account, holder, after, through],
      );
      const deleted = await deleteEvents(db, holder, events);
      await addDeleted(db, erasure, deleted);
      if (events.length === eventsPerStep) return true;
      if (holder < 0)
        await db.run('DELETE FROM erased_contact WHERE account = $1 AND contact = $2', [db.account, -holder]);
      else {
        await db.run('DELETE FROM erased_stretch WHERE account = $1 AND "user" = $2 AND after = $3 AND erasure = $4', [
          db.account,
          holder,
          after,
          erasure,
        ]);
      }
      return true;
    },

    /** Deletes up to `limit` of an account's events. Returns the number of deleted events. */
    async deleteEventsOf(db: Transaction, limit: number): Promise<number> {
      const events = await db.all<{ sequence: number; day: number }>(
        `SELECT sequence, day FROM event WHERE account = $1 ORDER BY ${inGroups('account')} LIMIT $2`,
        [db.account, limit],
      );
      return deleteEvents(db, undefined, events);
    },

    /**
     * Deletes up to `maxEvents` events and `maxRefused` refused requests from before a time. Returns how
     * many rows of each kind it deleted.
     */
    async deleteEventsBefore(
      db: Transaction,
      { time, maxEvents, maxRefused, now = Infinity }: OldOfAccount,
    ): Promise<{ events: number; refused: number }> {
      await setLocally(db, orderedEventSettings);
      const old = await findOldEvents(db, { time, limit: maxEvents, now });
      const sequences = old.map(({ sequence }) => sequence).sort((a, b) => a - b);
      await runOperation(db, recordSkippedEvents(db.account, sequences));
      const events = await deleteEvents(db, undefined, old);
      // Deletes refused requests too, because they are stored no longer than events.
      return { events, refused: await refused.evictBefore(db, time, maxRefused) };
    },
  };
};
