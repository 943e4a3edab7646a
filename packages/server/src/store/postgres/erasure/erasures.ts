/** Erases contacts: one commit removes a contact from every read; later steps delete its events. */
import { setImmediate } from 'node:timers/promises';
import { stretchesOwnedBy } from '../../../identity/ownership.ts';
import type { ClaimRow } from '../../rules/claims.ts';
import { isExternalIDVerified } from '../../rules/contact-keys.ts';
import { claimName, handleName } from '../../rules/erased-names.ts';
import type { StatementRow } from '../../rules/links.ts';
import type { CountedEvent } from '../../rules/rollups.ts';
import type { ErasureReceipt, NewErasure, RequestOf } from '../../store.ts';
import type { RefusedWriter } from '../accounts/refused-requests.ts';
import type { ContactFinder } from '../contacts/contact-finder.ts';
import type { ContactRow } from '../contacts/contact-rows.ts';
import { groupOf } from '../contacts/merges.ts';
import { statementsOf } from '../contacts/statements.ts';
import { userUUIDsOf } from '../contacts/users.ts';
import type { Dedup } from '../events/dedup.ts';
import { inGroups, type OrderedBy, walkingInOrder, within } from '../events/event-order.ts';
import { findOldEvents } from '../events/old-events.ts';
import { takeFromRollups } from '../events/rollups.ts';
import { holdPerson } from '../transactions/held-rows.ts';
import { readSettled } from '../transactions/sequencer.ts';
import type { Transaction } from '../transactions/transaction.ts';

const eventsPerStep = 1_000;
/** Limits a turn of the event loop to about a millisecond. */
const hashesPerTurn = 100;

interface ErasedClaim extends Pick<ClaimRow, 'claim' | 'claimID' | 'token' | 'user' | 'accepted' | 'voided'> {
  readonly address: string | null;
  readonly externalID: string | null;
}

const readReceipt = async (db: Transaction, erasure: number, contactUUID: string): Promise<ErasureReceipt> => {
  const found = await db.one<Omit<ErasureReceipt, 'contactUUID'>>(
    'SELECT "erasedTime", "deletedEvents", complete FROM erasure WHERE erasure = $1',
    [erasure],
  );
  return { contactUUID, ...found };
};

/** Records the stretches of users' histories that the group's contacts own. Reads hide these events until they are deleted. */
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
    `INSERT INTO erased_stretch ("user", erasure, after, through)
     SELECT "user", $1, after, through FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) AS new ("user", after, through)`,
    [
      erasure,
      stretches.map(({ user }) => user),
      stretches.map(({ after }) => after),
      stretches.map(({ through }) => through),
    ],
  );
};

/** Turns the group's links into unlinks, permanently. */
const unlink = (
  db: Transaction,
  { group, users, claims }: { group: readonly number[]; users: readonly number[]; claims: readonly ErasedClaim[] },
) =>
  // A claim's marks (accepted, voided) apply to its links. The claim is deleted, so they are written to the statements.
  db.run(
    `UPDATE statement SET contact = NULL, claim = NULL, erased = true,
       voided = CASE WHEN voided = 0 AND NOT verified AND claim = ANY ($3::bigint[]) THEN 1 ELSE voided END,
       verified = verified OR coalesce(claim = ANY ($4::bigint[]), false)
     WHERE "user" = ANY ($1::bigint[]) AND contact = ANY ($2::bigint[])`,
    [
      users,
      group,
      claims.filter(({ voided }) => voided).map(({ claim }) => claim),
      claims.filter(({ accepted, voided }) => accepted && !voided).map(({ claim }) => claim),
    ],
  );

/** Deletes all rows about the group's contacts except their events. */
const forget = (db: Transaction, rows: readonly ContactRow[], claims: readonly ErasedClaim[]) => {
  const group = rows.map(({ contact }) => contact);
  return Promise.all([
    db.run('DELETE FROM claim WHERE contact = ANY ($1::bigint[])', [group]),
    db.run('DELETE FROM claim_name WHERE "claimID" = ANY ($1::text[])', [claims.map(({ claimID }) => claimID)]),
    db.run('DELETE FROM contact_user WHERE contact = ANY ($1::bigint[])', [group]),
    db.run('DELETE FROM merged_contact WHERE contact = ANY ($1::bigint[])', [group]),
    db.run('DELETE FROM contact_name WHERE "contactUUID" = ANY ($1::text[])', [
      rows.map(({ contactUUID }) => contactUUID),
    ]),
    db.run(
      `DELETE FROM contact_address WHERE "contactEmailaddress" = ANY ($1::text[]) AND contact = ANY ($2::bigint[])`,
      [rows.map(({ contactEmailaddress }) => contactEmailaddress), group],
    ),
    db.run(
      `DELETE FROM contact_external_id WHERE "contactExternalID" = ANY ($1::text[]) AND contact = ANY ($2::bigint[])`,
      [rows.map(({ contactExternalID }) => contactExternalID), group],
    ),
    db.run('DELETE FROM contact WHERE contact = ANY ($1::bigint[])', [group]),
  ]);
};

export interface ErasureParts {
  readonly finder: ContactFinder;
  readonly dedup: Dedup;
  readonly refused: RefusedWriter;
}

export const createErasures = ({ finder, dedup, refused }: ErasureParts) => {
  /** Returns the keyed hashes of names. There may be thousands, so it yields to other requests. */
  const hashesOf = async (account: number, names: readonly string[]): Promise<Buffer[]> => {
    const hashes: Buffer[] = [];
    for (const name of names) {
      if (hashes.length % hashesPerTurn === 0) await setImmediate();
      hashes.push(finder.hashOf(account, name));
    }
    return hashes;
  };

  /** Erases the contacts of one person; returns the number of the erasure. */
  const eraseGroup = async (
    db: Transaction,
    account: number,
    group: readonly number[],
    { time, verifiedOnly = false }: Pick<NewErasure, 'time' | 'verifiedOnly'>,
  ): Promise<number> => {
    const { rows, users } = await holdPerson(db, group);
    const [{ erasure }, claims, statements] = await Promise.all([
      db.one<{ erasure: number }>(
        `INSERT INTO erasure (erasure, account, "erasedTime", "deletedEvents", complete, "verifiedOnly")
         VALUES (nextval('erasure_number'), $1, $2, 0, false, $3) RETURNING erasure`,
        [account, time, verifiedOnly],
      ),
      db.all<ErasedClaim>(
        `SELECT claim, "claimID", token, "user", accepted, voided, said -> 'fields' ->> 'contactEmailaddress' AS address,
           said -> 'fields' ->> 'contactExternalID' AS "externalID"
         FROM claim WHERE contact = ANY ($1::bigint[])`,
        [group],
      ),
      statementsOf(db, users),
    ]);
    await eraseStretches(db, { erasure, group, verifiedOnly }, statements);
    await db.run('INSERT INTO erased_contact (contact, erasure) SELECT unnest($1::bigint[]), $2', [group, erasure]);
    const isGroups = ({ contact, verified }: StatementRow) =>
      contact !== null && group.includes(contact) && (verified || !verifiedOnly);
    const linked = users.filter((user) => statements.get(user)?.some(isGroups));
    const claiming = verifiedOnly ? [] : claims.map(({ user }) => user);
    const saidIDs = claims.flatMap(({ externalID }) => externalID || []);
    // An external ID that is another contact's key names that contact, whatever a page said.
    const ofOthers = await db.all<{ externalID: string }>(
      `SELECT "contactExternalID" AS "externalID" FROM contact_external_id
       WHERE "contactExternalID" = ANY ($1::text[]) AND account = $2 AND contact <> ALL ($3::bigint[])`,
      [saidIDs, account, group],
    );
    const heldByOthers = new Set(ofOthers.map(({ externalID }) => externalID));
    await refused.erase(db, account, {
      addresses: [
        ...rows.flatMap(({ contactEmailaddress }) => contactEmailaddress ?? []),
        ...claims.flatMap(({ address }) => address ?? []),
      ],
      externalIDs: rows.flatMap((row) => (isExternalIDVerified(row) && row.contactExternalID) || []),
      claimedIDs: saidIDs.filter((externalID) => !heldByOthers.has(externalID)),
      contactUUIDs: rows.map(({ contactUUID }) => contactUUID),
      handles: claims.map(({ claimID }) => claimID),
      userUUIDs: [...(await userUUIDsOf(db, [...linked, ...claiming])).values()],
    });
    const names = [
      ...rows.map(({ contactUUID }) => contactUUID),
      ...claims.flatMap(({ token, claimID }) => [handleName(token, claimID), claimName(claimID)]),
      ...(await dedup.eraseRequests(db, group)),
    ];
    await db.run(
      'INSERT INTO erased_identifier (hash, erasure) SELECT unnest($1::bytea[]), $2 ON CONFLICT DO NOTHING',
      [await hashesOf(account, names), erasure],
    );
    await unlink(db, { group, users, claims });
    await forget(db, rows, claims);
    return erasure;
  };

  /** Deletes events of one holder, or of some accounts, whose sequences are close together; returns how many. */
  const deleteEvents = async (
    db: Transaction,
    { by, whose }: { by: OrderedBy; whose: readonly number[] },
    events: readonly { readonly sequence: number; readonly day: number }[],
  ): Promise<number> => {
    if (events.length === 0) return 0;
    const sequences = events.map(({ sequence }) => sequence);
    const days = events.map(({ day }) => day);
    const deleted = await db.all<CountedEvent>(
      `DELETE FROM event
       WHERE ${by} = ANY ($1::bigint[]) AND ${within(by, '$2::bigint', '$3::bigint')} AND sequence = ANY ($4::bigint[])
         AND day >= $5 AND day <= $6
       RETURNING account, day, sequence, "eventID", "eventTime"`,
      [whose, Math.min(...sequences) - 1, Math.max(...sequences), sequences, Math.min(...days), Math.max(...days)],
    );
    await takeFromRollups(db, deleted);
    return deleted.length;
  };

  return {
    /** Erases the named contact and all contacts merged with it. A repeated request only returns the progress. */
    async eraseContact(db: Transaction, { time, verifiedOnly, ...name }: NewErasure): Promise<ErasureReceipt> {
      const { account, contactUUID } = name;
      const row = contactUUID === undefined ? undefined : await finder.byUUID(db, account, contactUUID);
      // Read after the row: when the row is gone, the erasure that deleted it is visible.
      const erased = contactUUID === undefined || row ? undefined : await finder.findErasure(db, account, contactUUID);
      if (erased !== undefined) return readReceipt(db, erased, contactUUID as string);
      const named = row ?? (await finder.byName(db, name));
      const erasure = await eraseGroup(db, account, await groupOf(db, named.contact), { time, verifiedOnly });
      return readReceipt(db, erasure, named.contactUUID);
    },

    /** Deletes up to `eventsPerStep` events of erased contacts; returns whether more are left. Runs on one server at a time. */
    async continueErasures(db: Transaction): Promise<boolean> {
      // A stretch waits until its sequences are settled: an uncommitted event in it must be deleted too. Reads hide it meanwhile.
      const { settled } = await readSettled(db);
      const next = await db.get<{ erasure: number; holder: number; after: number; through: number }>(
        `SELECT erasure, "user" AS holder, after, through FROM erased_stretch WHERE through <= $1
         UNION ALL SELECT erasure, -contact, 0, ${Number.MAX_SAFE_INTEGER} FROM erased_contact LIMIT 1`,
        [settled],
      );
      if (!next) {
        await db.run(
          `UPDATE erasure SET complete = true
           WHERE NOT complete AND NOT EXISTS (SELECT FROM erased_stretch s WHERE s.erasure = erasure.erasure)
             AND NOT EXISTS (SELECT FROM erased_contact c WHERE c.erasure = erasure.erasure)`,
        );
        return false;
      }
      const { erasure, holder, after, through } = next;
      await db.script(walkingInOrder);
      const events = await db.all<{ sequence: number; day: number }>(
        `SELECT sequence, day FROM event WHERE holder = $1 AND ${within('holder', '$2::bigint', '$3::bigint')}
         ORDER BY ${inGroups('holder')} LIMIT ${eventsPerStep}`,
        [holder, after, through],
      );
      const deleted = await deleteEvents(db, { by: 'holder', whose: [holder] }, events);
      await db.run('UPDATE erasure SET "deletedEvents" = "deletedEvents" + $2 WHERE erasure = $1', [erasure, deleted]);
      if (events.length === eventsPerStep) return true;
      if (holder < 0) await db.run('DELETE FROM erased_contact WHERE contact = $1', [-holder]);
      else {
        const key = [holder, after, erasure];
        await db.run('DELETE FROM erased_stretch WHERE "user" = $1 AND after = $2 AND erasure = $3', key);
      }
      return true;
    },

    /** Deletes up to `most` events of an account. Returns how many. */
    async deleteEventsOf(db: Transaction, account: number, most: number): Promise<number> {
      const events = await db.all<{ sequence: number; day: number }>(
        `SELECT sequence, day FROM event WHERE account = $1 ORDER BY ${inGroups('account')} LIMIT $2`,
        [account, most],
      );
      return deleteEvents(db, { by: 'account', whose: [account] }, events);
    },

    async deleteEventsBefore(
      db: Transaction,
      { time, most, now = Infinity }: RequestOf<'deleteEventsBefore'>,
    ): Promise<number> {
      await db.script(walkingInOrder);
      const events = await findOldEvents(db, { time, most, now });
      const accounts = [...new Set(events.map(({ account }) => account))];
      const deleted = await deleteEvents(db, { by: 'account', whose: accounts }, events);
      // Refused requests are stored no longer than events.
      await refused.evictBefore(db, time, most);
      return deleted;
    },
  };
};
