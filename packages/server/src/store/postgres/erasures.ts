/** Erasing a contact: out of every read at once, its events deleted step by step afterwards. */
import { stretchesOf } from '../../identity/ownership.ts';
import { claimName, handleName } from '../erased-names.ts';
import type { PersonNames } from '../refused-names.ts';
import type { ErasureReceipt, NewErasure } from '../store.ts';
import type { RequestOf } from './calls.ts';
import type { ContactFinder } from './contact-finder.ts';
import { type ContactRow, readContacts } from './contact-rows.ts';
import { inGroups, type OrderedBy, walkingInOrder, within } from './event-order.ts';
import { groupOf } from './merges.ts';
import { findOldEvents } from './old-events.ts';
import type { RefusedWriter } from './refused-requests.ts';
import type { Repeats } from './repeats.ts';
import { marksOf, type StatementRow, statementsOf, usersOf } from './statements.ts';
import { type CountedEvent, takeFromTotals } from './totals.ts';
import type { Transaction } from './transaction.ts';
import { userUUIDsOf } from './users.ts';

const eventsPerStep = 1_000;

interface ErasedClaim {
  readonly claimID: string;
  readonly token: number;
  readonly user: number;
  readonly address: string;
}

const readReceipt = async (db: Transaction, erasure: number, contactUUID: string): Promise<ErasureReceipt> => {
  const found = await db.one<Omit<ErasureReceipt, 'contactUUID'>>(
    'SELECT "erasedTime", "deletedEvents", complete FROM erasure WHERE erasure = $1',
    [erasure],
  );
  return { contactUUID, ...found };
};

/** The stretches of users' histories that the group's contacts own: to hide, and to delete. */
const eraseStretches = async (
  db: Transaction,
  { erasure, group, verifiedOnly }: { erasure: number; group: readonly number[]; verifiedOnly: boolean },
  statements: ReadonlyMap<number, readonly StatementRow[]>,
) => {
  const { last } = await db.one<{ last: number }>('SELECT last_value AS last FROM event_order');
  const stretches = [...statements].flatMap(([user, list]) =>
    stretchesOf(list)
      .filter(({ contact }) => contact !== null && group.includes(contact))
      .filter(({ statement }) => !verifiedOnly || statement?.verified)
      .map(({ after, through }) => ({ user, after, through: Math.min(through, last) })),
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

/** The group's links become unlinks for good. */
const unlink = async (db: Transaction, group: readonly number[], users: readonly number[]) => {
  const made = await db.all<{ user: number; sequence: number; contact: number; claim: number; verified: boolean }>(
    `SELECT "user", sequence, contact, claim, verified FROM statement
     WHERE "user" = ANY ($1::bigint[]) AND contact = ANY ($2::bigint[]) AND claim IS NOT NULL`,
    [users, group],
  );
  const marks = await marksOf(db, made);
  // What its claim's marks made of it goes with the claim: it is written down first.
  const voided = made.filter(({ claim, verified }) => !verified && marks.get(claim)?.voided);
  await db.run(
    `UPDATE statement SET voided = 1 FROM unnest($1::bigint[], $2::bigint[]) AS gone ("user", sequence)
     WHERE statement."user" = gone."user" AND statement.sequence = gone.sequence AND voided = 0`,
    [voided.map(({ user }) => user), voided.map(({ sequence }) => sequence)],
  );
  const accepted = made.filter(({ claim }) => marks.get(claim)?.accepted && !marks.get(claim)?.voided);
  await db.run(
    `UPDATE statement SET verified = true FROM unnest($1::bigint[], $2::bigint[]) AS accepted ("user", sequence)
     WHERE statement."user" = accepted."user" AND statement.sequence = accepted.sequence`,
    [accepted.map(({ user }) => user), accepted.map(({ sequence }) => sequence)],
  );
  await db.run(
    `UPDATE statement SET contact = NULL, claim = NULL, erased = true
     WHERE "user" = ANY ($1::bigint[]) AND contact = ANY ($2::bigint[])`,
    [users, group],
  );
};

/** Deletes the rows that say anything of the group's contacts, but for their events. */
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
    db.run('DELETE FROM contact WHERE contact = ANY ($1::bigint[])', [group]),
  ]);
};

export interface ErasureParts {
  readonly finder: ContactFinder;
  readonly repeats: Repeats;
  readonly refused: RefusedWriter;
}

export const createErasures = ({ finder, repeats, refused }: ErasureParts) => {
  /** By whatever a request could name one of these contacts, their users included. */
  const namesOf = async (
    db: Transaction,
    rows: readonly ContactRow[],
    {
      claims,
      linked,
      verifiedOnly,
    }: { claims: readonly ErasedClaim[]; linked: readonly number[]; verifiedOnly: boolean },
  ): Promise<PersonNames> => {
    const claiming = verifiedOnly ? [] : claims.map(({ user }) => user);
    const userUUIDs = await userUUIDsOf(db, [...linked, ...claiming]);
    return {
      addresses: new Set([
        ...rows.map(({ contactEmailaddress }) => contactEmailaddress),
        ...claims.map(({ address }) => address),
      ]),
      contactUUIDs: new Set(rows.map(({ contactUUID }) => contactUUID)),
      others: new Set([...userUUIDs.values(), ...claims.map(({ claimID }) => claimID)]),
    };
  };

  /** Erases contacts that are one person. */
  const eraseGroup = async (
    db: Transaction,
    account: number,
    group: readonly number[],
    { time, verifiedOnly = false }: Pick<NewErasure, 'time' | 'verifiedOnly'>,
  ): Promise<number> => {
    const { erasure } = await db.one<{ erasure: number }>(
      `INSERT INTO erasure (erasure, account, "erasedTime", "deletedEvents", complete, "verifiedOnly")
       VALUES (nextval('erasure_number'), $1, $2, 0, false, $3) RETURNING erasure`,
      [account, time, verifiedOnly],
    );
    const [rows, users, claims] = await Promise.all([
      readContacts(db, group),
      usersOf(db, group),
      db.all<ErasedClaim>(
        `SELECT "claimID", token, "user", said -> 'fields' ->> 'contactEmailaddress' AS address FROM claim
         WHERE contact = ANY ($1::bigint[])`,
        [group],
      ),
    ]);
    const statements = await statementsOf(db, users);
    await eraseStretches(db, { erasure, group, verifiedOnly }, statements);
    await db.run('INSERT INTO erased_contact (contact, erasure) SELECT unnest($1::bigint[]), $2', [group, erasure]);
    const isGroups = ({ contact, verified }: StatementRow) =>
      contact !== null && group.includes(contact) && (verified || !verifiedOnly);
    const linked = users.filter((user) => statements.get(user)?.some(isGroups));
    await refused.erase(db, account, await namesOf(db, rows, { claims, linked, verifiedOnly }));
    const names = [
      ...rows.map(({ contactUUID }) => contactUUID),
      ...claims.flatMap(({ token, claimID }) => [handleName(token, claimID), claimName(claimID)]),
      ...(await repeats.eraseRequests(db, users, group)),
    ];
    await db.run(
      'INSERT INTO erased_identifier (hash, erasure) SELECT unnest($1::bytea[]), $2 ON CONFLICT DO NOTHING',
      [names.map((name) => finder.hashOf(account, name)), erasure],
    );
    await unlink(db, group, users);
    await forget(db, rows, claims);
    return erasure;
  };

  /** Deletes events that lie together in the order of an index: of one holder, or of some accounts. */
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
    await takeFromTotals(db, deleted);
    return deleted.length;
  };

  return {
    /**
     * Erases the contact that answers, with all that it answers for. Asked again, only answers how far that is. To be
     * carried out alone: of what is kept at the same moment nothing may stay behind.
     */
    async eraseContact(db: Transaction, { time, verifiedOnly, ...name }: NewErasure): Promise<ErasureReceipt> {
      const { account, contactUUID } = name;
      const erased = contactUUID === undefined ? undefined : await finder.findErasure(db, account, contactUUID);
      if (erased !== undefined) return readReceipt(db, erased, contactUUID as string);
      const named = await finder.byName(db, name);
      const erasure = await eraseGroup(db, account, await groupOf(db, named.contact), { time, verifiedOnly });
      return readReceipt(db, erasure, named.contactUUID);
    },

    /** Deletes some events of what was erased; answers whether there is more to do. By one server at a time. */
    async continueErasures(db: Transaction): Promise<boolean> {
      const stretch = await db.get<{ erasure: number; user: number; after: number; through: number }>(
        'SELECT erasure, "user", after, through FROM erased_stretch LIMIT 1',
      );
      const contact = stretch
        ? undefined
        : await db.get<{ erasure: number; contact: number }>('SELECT erasure, contact FROM erased_contact LIMIT 1');
      const erasure = stretch?.erasure ?? contact?.erasure;
      if (erasure === undefined) {
        await db.run('UPDATE erasure SET complete = true WHERE NOT complete');
        return false;
      }
      const { holder, after, through } = stretch
        ? { holder: stretch.user, after: stretch.after, through: stretch.through }
        : { holder: -(contact as { contact: number }).contact, after: 0, through: Number.MAX_SAFE_INTEGER };
      await db.script(walkingInOrder);
      const events = await db.all<{ sequence: number; day: number }>(
        `SELECT sequence, day FROM event WHERE holder = $1 AND ${within('holder', '$2::bigint', '$3::bigint')}
         ORDER BY ${inGroups('holder')} LIMIT ${eventsPerStep}`,
        [holder, after, through],
      );
      const deleted = await deleteEvents(db, { by: 'holder', whose: [holder] }, events);
      await db.run('UPDATE erasure SET "deletedEvents" = "deletedEvents" + $2 WHERE erasure = $1', [erasure, deleted]);
      if (events.length === eventsPerStep) return true;
      if (stretch) {
        await db.run('DELETE FROM erased_stretch WHERE "user" = $1 AND after = $2 AND erasure = $3', [
          stretch.user,
          stretch.after,
          erasure,
        ]);
      } else {
        await db.run('DELETE FROM erased_contact WHERE contact = $1', [contact?.contact]);
      }
      return true;
    },

    async deleteEventsBefore(
      db: Transaction,
      { time, most, now = Infinity }: RequestOf<'deleteEventsBefore'>,
    ): Promise<number> {
      await db.script(walkingInOrder);
      const events = await findOldEvents(db, { time, most, now });
      const accounts = [...new Set(events.map(({ account }) => account))];
      const deleted = await deleteEvents(db, { by: 'account', whose: accounts }, events);
      // What was refused is no longer kept than what was not.
      await refused.evictBefore(db, time, most);
      return deleted;
    },
  };
};
