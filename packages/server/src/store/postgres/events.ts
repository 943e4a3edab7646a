/** Keeping events: whole batches of them, of many clients, in one transaction. */
import { linkedContact, type Statement } from '../../identity/statements.ts';
import { Refusal } from '../../refusal.ts';
import { usesOfEvent } from '../catalogue-rules.ts';
import { handleName } from '../erased-names.ts';
import type { EventBatch, EventOutcome, NewEvent } from '../store.ts';
import type { CatalogueWriter, EventChecks } from './catalogues.ts';
import { findClaims } from './claims.ts';
import type { ContactFinder } from './contact-finder.ts';
import { createBodies } from './event-body.ts';
import { insertStatement } from './links.ts';
import { drawSequences } from './position.ts';
import type { Repeats, SentEvent } from './repeats.ts';
import { statementsOf } from './statements.ts';
import { addToTotals } from './totals.ts';
import type { Transaction } from './transaction.ts';
import { keyOfUser, lockUsers, type User, type UserName, type Users, userUUIDsOf } from './users.ts';

export interface EventParts {
  readonly users: Users;
  readonly catalogues: CatalogueWriter;
  readonly finder: ContactFinder;
  readonly repeats: Repeats;
}

/** Whom an event is logged against. */
interface Against {
  readonly name: UserName | null;
  readonly contact: number | null;
}

/** An event on its way. */
interface Entry extends Against {
  readonly batch: EventBatch;
  readonly event: NewEvent;
  outcome: EventOutcome | undefined;
}

const kept: EventOutcome = { kept: true };
const duplicate: EventOutcome = { kept: false, duplicate: true };
const refused = ({ code, field, message }: Refusal): EventOutcome => ({
  kept: false,
  refused: code,
  field: field as string,
  message,
});

const distinct = <Value>(values: Iterable<Value>, keyOf: (value: Value) => unknown = (value) => value): Value[] => [
  ...new Map([...values].map((value) => [keyOf(value), value])).values(),
];

/** All bodies go as one value: of an array, each would be written as text. */
const insertEvents = `
  INSERT INTO event (holder, sequence, "user", "eventTime", account, day, "eventID", body)
  SELECT holder, sequence, "user", "eventTime", account, $1, "eventID", substr($2::bytea, start + 1, "end" - start)
  FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::integer[], $8::integer[], $9::integer[], $10::integer[])
    AS new (holder, sequence, "user", "eventTime", account, "eventID", start, "end")`;

export const createEventWriter = ({ users, catalogues, finder, repeats }: EventParts) => {
  /** The contacts and claims that events are logged against: answers whom each is, or why there is nobody. */
  const createResolver = async (db: Transaction, batches: readonly EventBatch[]) => {
    const named = (browser: boolean) =>
      distinct(
        batches
          .filter((batch) => batch.browser === browser)
          .flatMap(({ account, token, events }) =>
            events.flatMap(({ contactUUID }) => (contactUUID === null ? [] : [{ account, token, contactUUID }])),
          ),
        ({ account, token, contactUUID }) => `${account} ${token} ${contactUUID}`,
      );
    const [handles, contactUUIDs] = [named(true), named(false)];
    const claims =
      handles.length > 0
        ? await findClaims(
            db,
            handles.map(({ contactUUID }) => contactUUID),
          )
        : [];
    const userUUIDs = await userUUIDsOf(
      db,
      claims.map(({ user }) => user),
    );
    const contacts =
      contactUUIDs.length > 0
        ? await db.all<{ contactUUID: string; account: number; contact: number }>(
            'SELECT "contactUUID", account, contact FROM contact_name WHERE "contactUUID" = ANY ($1::text[])',
            [contactUUIDs.map(({ contactUUID }) => contactUUID)],
          )
        : [];
    const claimByHandle = new Map(claims.map((claim) => [claim.claimID, claim]));
    const contactByName = new Map(contacts.map((row) => [`${row.account} ${row.contactUUID}`, row.contact]));
    const found = new Map<string, Against | Refusal>();
    const missing = new Map<string, { account: number; identifier: string }>();
    for (const { account, token, contactUUID } of handles) {
      const key = `${account} ${token} ${contactUUID}`;
      const claim = claimByHandle.get(contactUUID);
      if (claim && claim.account === account && claim.token === token) {
        found.set(key, { name: { account, userUUID: userUUIDs.get(claim.user) as string }, contact: null });
      } else missing.set(key, { account, identifier: handleName(token, contactUUID) });
    }
    for (const { account, token, contactUUID } of contactUUIDs) {
      const key = `${account} ${token} ${contactUUID}`;
      const contact = contactByName.get(`${account} ${contactUUID}`);
      if (contact !== undefined) found.set(key, { name: null, contact });
      else missing.set(key, { account, identifier: contactUUID });
    }
    const refusals = await finder.missingEach(db, [...missing.values()]);
    for (const [nth, key] of [...missing.keys()].entries()) found.set(key, refusals[nth] as Refusal);

    return ({ account, token, browser }: EventBatch, { userUUID, contactUUID }: NewEvent): Against | Refusal => {
      const name = userUUID === null ? null : { account, userUUID };
      if (contactUUID === null) return { name, contact: null };
      const against = found.get(`${account} ${token} ${contactUUID}`) as Against | Refusal;
      if (against instanceof Refusal) return against;
      if (!browser) return { name, contact: against.contact };
      // A handle: it stands for the user of its claim, with its token and user only.
      const isAnother = userUUID !== null && userUUID !== against.name?.userUUID;
      return isAnother ? new Refusal('unknown_contact', { field: 'contactUUID' }) : against;
    };
  };

  const toEntries = async (db: Transaction, batches: readonly EventBatch[]): Promise<Entry[][]> => {
    const resolve = await createResolver(db, batches);
    return batches.map((batch) =>
      batch.events.map((event): Entry => {
        const against = resolve(batch, event);
        return against instanceof Refusal
          ? { batch, event, name: null, contact: null, outcome: refused(against) }
          : { batch, event, name: against.name, contact: against.contact, outcome: undefined };
      }),
    );
  };

  /** Finds repeats, and what may not be used; the first of several that are the same is left. */
  const examine = async (db: Transaction, entries: readonly Entry[]): Promise<EventChecks> => {
    const open = entries.filter(({ outcome }) => outcome === undefined);
    const known = await users.find(
      db,
      open.flatMap(({ name }) => name ?? []),
    );
    const checks = await catalogues.checksOfEvents(db, distinct(open.map(({ batch }) => batch.account)));
    const refusalOf = ({ batch, event }: Entry): Refusal | undefined => {
      try {
        checks.check(batch.account, batch.browser, event);
        return undefined;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return error;
      }
    };
    const examined = open.map((entry) => {
      const { name, contact, event } = entry;
      const user = name && known.get(keyOfUser(name));
      const holder = user ? user.user : name === null ? -(contact as number) : undefined;
      const sent = holder === undefined ? undefined : repeats.sent(holder, event.eventUUID);
      return { entry, sent, since: user?.since ?? 0, refusal: refusalOf(entry) };
    });
    const { day } = db.position;
    const isRepeat = await repeats.find(
      db,
      // One of today that may be kept is known when it is; one that is refused must be known now.
      examined.flatMap(({ sent, since, refusal }) =>
        sent && (since < day || refusal || repeats.withErased) ? [{ ...sent, since }] : [],
      ),
    );
    const first = new Set<string>();
    for (const { entry, sent, refusal } of examined) {
      const { name, contact, event } = entry;
      const key = `${name ? keyOfUser(name) : -(contact as number)} ${event.eventUUID}`;
      if (first.has(key) || (sent && isRepeat(sent))) entry.outcome = duplicate;
      else if (refusal) entry.outcome = refused(refusal);
      else first.add(key);
    }
    return checks;
  };

  /** Those of the users who are said to be a contact and are linked to nobody: with the event that links them. */
  const findLinks = async (db: Transaction, entries: readonly Entry[], userOf: (entry: Entry) => User) => {
    const both = entries.filter(({ name, contact }) => name !== null && contact !== null);
    const links = new Map<Entry, number>();
    if (both.length === 0) return links;
    const lists = await statementsOf(
      db,
      both.map((entry) => userOf(entry).user),
    );
    for (const entry of both) {
      const { user } = userOf(entry);
      const statements: Statement[] | undefined = lists.get(user);
      if (!statements || linkedContact(statements) !== null) continue;
      links.set(entry, user);
      lists.delete(user);
    }
    return links;
  };

  const insert = (
    db: Transaction,
    entries: readonly Entry[],
    holders: readonly number[],
    sequences: readonly number[],
    userOf: (entry: Entry) => User,
  ) => {
    const { day } = db.position;
    const column = <Value>(of: (entry: Entry) => Value) => entries.map(of);
    const bodies = createBodies(entries.length);
    for (const { batch, event } of entries) bodies.add(event, batch.receivedTime);
    const inserted = db.run(insertEvents, [
      day,
      bodies.bytes(),
      holders,
      sequences,
      column((entry) => (entry.name !== null && entry.contact !== null ? userOf(entry).user : null)),
      column(({ event }) => event.eventTime),
      column(({ batch }) => batch.account),
      column(({ event }) => event.eventID),
      [0, ...bodies.ends.slice(0, -1)],
      bodies.ends,
    ]);
    const counted = entries.map(({ batch, event }, nth) => ({
      account: batch.account,
      day,
      sequence: sequences[nth] as number,
      eventID: event.eventID,
      eventTime: event.eventTime,
    }));
    return [inserted, addToTotals(db, counted)];
  };

  /** What is to be known of contacts that events were logged with. */
  const noteContacts = (db: Transaction, entries: readonly Entry[], userOf: (entry: Entry) => User) => {
    const contacts = distinct(entries.flatMap(({ contact }) => contact ?? []));
    if (contacts.length === 0) return [];
    const both = entries.filter(({ name, contact }) => name !== null && contact !== null);
    return [
      db.run(
        `UPDATE contact SET "firstDay" = coalesce("firstDay", $2), "lastDay" = greatest("lastDay", $2)
         WHERE contact = ANY ($1::bigint[]) AND ("lastDay" IS NULL OR "lastDay" < $2)`,
        [contacts, db.position.day],
      ),
      db.run(
        `INSERT INTO user_contact ("user", contact) SELECT DISTINCT * FROM unnest($1::bigint[], $2::bigint[])
         ON CONFLICT DO NOTHING`,
        [both.map((entry) => userOf(entry).user), both.map(({ contact }) => contact)],
      ),
    ];
  };

  const keep = async (db: Transaction, entries: readonly Entry[], checks: EventChecks, time: number): Promise<void> => {
    const found = await users.ensure(
      db,
      entries.flatMap(({ name }) => name ?? []),
      time,
    );
    const userOf = ({ name }: Entry) => found.get(keyOfUser(name as UserName)) as User;
    const { day } = db.position;
    await Promise.all([
      lockUsers(
        db,
        entries.filter(({ name, contact }) => name !== null && contact !== null).map((entry) => userOf(entry).user),
      ),
      users.seenOn(db, found, day),
    ]);
    const links = await findLinks(db, entries, userOf);
    const sent = new Map(
      entries.map((entry): [Entry, SentEvent] => {
        const holder = entry.name === null ? -(entry.contact as number) : userOf(entry).user;
        return [entry, repeats.sent(holder, entry.event.eventUUID)];
      }),
    );
    const [isNew, drawn] = await Promise.all([
      repeats.remember(db, [...sent.values()], day),
      drawSequences(db, entries.length + links.size),
    ]);

    const news = entries.filter((entry) => {
      const isKept = isNew(sent.get(entry) as SentEvent);
      entry.outcome = isKept ? kept : duplicate;
      return isKept;
    });
    if (news.length === 0) return;
    const rest = drawn.values();
    const next = () => rest.next().value as number;
    const sequences: number[] = [];
    const writing: unknown[] = [];
    for (const entry of news) {
      sequences.push(next());
      const user = links.get(entry);
      if (user === undefined) continue;
      const { batch, contact } = entry;
      const { account, token, receivedTime } = batch;
      writing.push(
        insertStatement(db, { account, user, contact, verified: true, claim: null, token, time: receivedTime }, next()),
      );
    }
    const holders = news.map((entry) => (entry.contact === null ? userOf(entry).user : -entry.contact));
    writing.push(...noteContacts(db, news, userOf), ...insert(db, news, holders, sequences, userOf));
    await Promise.all(writing);
    const unlisted = news.filter(({ batch, event }) => checks.mayBeNew(batch.account, batch.browser, event));
    for (const account of distinct(unlisted.map(({ batch }) => batch.account)).sort((a, b) => a - b)) {
      const used = unlisted.filter(({ batch }) => batch.account === account);
      await catalogues.register(
        db,
        account,
        used.map(({ batch, event }) => ({ browser: batch.browser, uses: usesOfEvent(event) })),
      );
    }
  };

  /** One outcome for each event of each batch. What is refused has no effect, and the others stand. */
  return async (db: Transaction, batches: readonly EventBatch[]): Promise<EventOutcome[][]> => {
    const time = Math.max(...batches.map(({ receivedTime }) => receivedTime));
    db.dayOf(time);
    const lists = await toEntries(db, batches);
    const checks = await examine(db, lists.flat());
    const left = lists.flat().filter(({ outcome }) => outcome === undefined);
    if (left.length > 0) await keep(db, left, checks, time);
    return lists.map((entries) => entries.map(({ outcome }) => outcome as EventOutcome));
  };
};
export type EventWriter = ReturnType<typeof createEventWriter>;
