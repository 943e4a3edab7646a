/** Stores batches of events from many clients in one transaction. */
import { linkedContact } from '../../../identity/statements.ts';
import { distinct } from '../../../shared/distinct.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { type AccountCatalogues, toStoredKind, usesOfEvent } from '../../rules/accounts/catalogue-rules.ts';
import { eventBytes } from '../../rules/row-bytes.ts';
import type { EventBatch, EventOutcome, NewEvent } from '../../store.ts';
import type { CatalogueWriter, EventChecks } from '../accounts/catalogues.ts';
import type { ContactFinder } from '../contacts/contact-finder.ts';
import { insertStatement } from '../contacts/links.ts';
import { preventErasure } from '../contacts/row-locks.ts';
import { statementsOf } from '../contacts/statements.ts';
import { keyOfUser, markContactsChanged, type User, type UserName, type Users } from '../contacts/users.ts';
import { bigints, byteas, integers } from '../database/arrays.ts';
import { createInsert, type RowBatch, writeRows } from '../database/row-statements.ts';
import { drawSequences } from '../transactions/sequencer.ts';
import type { Transaction } from '../transactions/transaction.ts';
import type { Dedup, EventKey, EventLookup } from './dedup.ts';
import { createBodies } from './event-body.ts';
import { createEventResolver, type EventSubject, namesContact } from './event-contacts.ts';
import { rollupsOf } from './rollups.ts';

interface EventParts {
  readonly users: Users;
  readonly catalogues: CatalogueWriter;
  readonly finder: ContactFinder;
  readonly dedup: Dedup;
}

const noSubject: EventSubject = { name: null, contact: null, named: null };

/** An event that is being stored. */
interface Entry extends EventSubject {
  readonly batch: EventBatch;
  readonly event: NewEvent;
  /** The user of `name`, once it is found or created. */
  user: User | undefined;
  /** The event's key, once its user is known. */
  key: EventKey | undefined;
  /** Why the event is refused, unless it is a repeat. */
  refusal: Refusal | undefined;
  outcome: EventOutcome | undefined;
}

const storedOutcome: EventOutcome = { kept: true };
const duplicate: EventOutcome = { kept: false, duplicate: true };
const refused = ({ code, field, message }: Refusal): EventOutcome => ({
  kept: false,
  refused: code,
  field: field as string,
  message,
});

/** Returns the Refusal that the work throws, if any. */
const catchRefusal = (work: () => void): Refusal | undefined => {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  return undefined;
};

/** Returns the distinct names of unresolved users. */
const unresolvedUsers = (entries: readonly Entry[]): UserName[] => {
  const names = new Map<string, UserName>();
  for (const { name, user } of entries) if (name !== null && !user) names.set(keyOfUser(name), name);
  return [...names.values()];
};

const hasUserAndContact = ({ name, contact }: Entry): boolean => name !== null && contact !== null;
/** Returns the user of an entry, which must be resolved. */
const userOf = ({ user }: Entry): number => (user as User).user;

/** Returns an entry's key. The entry's holder must already be known. */
const keyOf = ({ key }: Entry): EventKey => key as EventKey;

const accountOf = ({ batch }: Entry): number => batch.account;

/** Groups entries by account, ascending. */
const byAccount = (entries: readonly Entry[]): [number, Entry[]][] => {
  const groups = new Map<number, Entry[]>();
  for (const entry of entries) {
    const group = groups.get(accountOf(entry));
    if (group) group.push(entry);
    else groups.set(accountOf(entry), [entry]);
  }
  return [...groups].sort(([a], [b]) => a - b);
};

const insertUserContacts = `
  INSERT INTO user_contact (account, "user", contact)
  SELECT DISTINCT p.account, sent."user", sent.contact
  FROM account_position p, unnest($2::bigint[], $3::bigint[]) AS sent ("user", contact) WHERE p.account = $1
  ON CONFLICT DO NOTHING`;

const insertEvents = createInsert('event', [
  ['holder', 'bigint'],
  ['sequence', 'bigint'],
  ['user', 'bigint'],
  ['eventTime', 'bigint'],
  ['eventID', 'integer'],
  ['body', 'bytea'],
  ['day', 'integer'],
]);

/** Returns the events that link their user: for each unlinked user, the first event with a contact. */
const findLinks = async (db: Transaction, both: readonly Entry[]): Promise<Set<Entry>> => {
  const links = new Set<Entry>();
  for (const [account, entries] of byAccount(both)) {
    const lists = await statementsOf(db.forAccount(account), entries.map(userOf));
    for (const entry of entries) {
      const statements = lists.get(userOf(entry));
      if (!statements || linkedContact(statements) !== null) continue;
      links.add(entry);
      lists.delete(userOf(entry));
    }
  }
  return links;
};

const toRows = (
  db: Transaction,
  entries: readonly Entry[],
  sequences: readonly number[],
  idsOf: (account: number) => AccountCatalogues,
): RowBatch[] => {
  const days = entries.map((entry) => db.forAccount(accountOf(entry)).currentDay.day);
  const stored = entries.map(({ batch, event }) => {
    const { eventID, attributes } = toStoredKind(idsOf(batch.account), event);
    return { eventID, event: attributes === event.attributes ? event : { ...event, attributes } };
  });
  const bodies = createBodies(entries.length);
  stored.forEach(({ event }, nth) => {
    bodies.add(event, (entries[nth] as Entry).batch.receivedTime);
  });
  const columns = [
    bigints(entries, (entry) => (entry.contact === null ? userOf(entry) : -entry.contact)),
    bigints(sequences, (sequence) => sequence),
    bigints(entries, (entry) => (hasUserAndContact(entry) ? userOf(entry) : null)),
    bigints(entries, ({ event }) => event.eventTime),
    integers(stored, ({ eventID }) => eventID),
    byteas(bodies),
    integers(days, (day) => day),
  ];
  const counted = stored.map(({ eventID, event }, nth) => ({
    account: accountOf(entries[nth] as Entry),
    day: days[nth] as number,
    sequence: sequences[nth] as number,
    eventID,
    eventTime: event.eventTime,
    bytes: eventBytes(event),
  }));
  return [{ statement: insertEvents, accounts: entries.map(accountOf), columns }, ...rollupsOf(db, counted)];
};

/** Updates the active days of the contacts that an account's events were logged with, and records their users. */
const updateContactActivity = (db: Transaction, entries: readonly Entry[]) => {
  const contacts = distinct(entries.flatMap(({ contact }) => contact ?? []));
  const both = entries.filter(hasUserAndContact);
  return [
    db.run(
      `UPDATE contact SET "firstDay" = coalesce("firstDay", $3), "lastDay" = greatest("lastDay", $3)
       WHERE account = $1 AND contact = ANY ($2::bigint[]) AND ("lastDay" IS NULL OR "lastDay" < $3)`,
      [db.account, contacts, db.currentDay.day],
    ),
    both.length > 0 &&
      db.run(insertUserContacts, [db.account, bigints(both, userOf), bigints(both, ({ contact }) => contact)]),
  ];
};

const mayHaveNewID = ({ batch, event }: Entry, checks: EventChecks) =>
  checks.mayBeNew(batch.account, batch.browser, event);

const toEntries = async (
  { users, finder }: EventParts,
  db: Transaction,
  batches: readonly EventBatch[],
): Promise<Entry[][]> => {
  const resolvers = new Map<number, Awaited<ReturnType<typeof createEventResolver>>>();
  const naming = batches.filter(({ events }) => events.some(namesContact));
  for (const account of distinct(naming.map(({ account }) => account))) {
    const batchesOf = naming.filter((batch) => batch.account === account);
    resolvers.set(account, await createEventResolver(db.forAccount(account), finder, batchesOf));
  }
  return batches.map((batch) => {
    const { account } = batch;
    const resolve = resolvers.get(account);
    return batch.events.map((event): Entry => {
      const subject =
        resolve && namesContact(event)
          ? resolve(batch, event)
          : { ...noSubject, name: event.userUUID === null ? null : { account, userUUID: event.userUUID } };
      const outcome = subject instanceof Refusal ? refused(subject) : undefined;
      const { name, contact, named } = subject instanceof Refusal ? noSubject : subject;
      const user = name === null ? undefined : users.getCached(name);
      return { batch, event, name, contact, named, user, key: undefined, refusal: undefined, outcome };
    });
  });
};

/** Sets `user` on the entries of the given users, and `key` on all entries whose holder is known. */
const assignUsers = ({ dedup }: EventParts, entries: readonly Entry[], resolved: readonly User[]): void => {
  const byKey = new Map(resolved.map((user) => [keyOfUser(user), user]));
  for (const entry of entries) {
    const { batch, name, contact, event } = entry;
    if (name !== null) entry.user ??= byKey.get(keyOfUser(name));
    const holder = name === null ? -(contact as number) : entry.user?.user;
    if (holder !== undefined)
      entry.key ??= dedup.createKey(batch.account, holder, event.eventUUID, batch.browser ? 0 : 1);
  }
};

/** Sets the outcome of repeats and refused events. The first of several equal events gets no outcome yet. */
const checkEntries = async (parts: EventParts, db: Transaction, entries: readonly Entry[]): Promise<EventChecks> => {
  const { users, catalogues, dedup } = parts;
  const open = entries.filter(({ outcome }) => outcome === undefined);
  const existing = await users.find(db, unresolvedUsers(open));
  const checks = await catalogues.checksOfEvents(db, distinct(open.map(({ batch }) => batch.account)));
  const lookups: EventLookup[] = [];
  assignUsers(parts, open, existing);
  for (const entry of open) {
    const { batch, event } = entry;
    entry.refusal = catchRefusal(() => checks.check(batch.account, batch.browser, event));
    const since = entry.user?.since ?? 0;
    // Checks now whether refused events are repeats, because `store`, which recognizes today's repeats, never gets
    // them.
    const { day } = db.forAccount(batch.account).currentDay;
    if (entry.key && (since < day || entry.refusal || dedup.mustLookUpToday)) lookups.push({ ...entry.key, since });
  }
  const isRepeat = await dedup.find(db, lookups);
  const first = new Set<string>();
  for (const entry of open) {
    const { batch, name, event, key: eventKey } = entry;
    const key = eventKey?.key ?? `${batch.browser} ${keyOfUser(name as UserName)} ${event.eventUUID}`;
    if (first.has(key) || (eventKey && isRepeat(eventKey))) {
      entry.outcome = duplicate;
      continue;
    }
    if (entry.refusal) entry.outcome = refused(entry.refusal);
    else first.add(key);
  }
  return checks;
};

/** Registers events' IDs, account by account. Returns a function that returns an account's listed IDs. */
const registerIDs = async (
  { catalogues }: EventParts,
  db: Transaction,
  entries: readonly Entry[],
  { idsOf }: EventChecks,
): Promise<(account: number) => AccountCatalogues> => {
  const registered = new Map<number, AccountCatalogues>();
  for (const account of distinct(entries.map(({ batch }) => batch.account)).sort((a, b) => a - b)) {
    const used = entries.filter(({ batch }) => batch.account === account);
    const uses = used.map(({ batch, event }) => ({ browser: batch.browser, uses: usesOfEvent(event) }));
    registered.set(account, await catalogues.register(db, account, uses));
  }
  return (account) => registered.get(account) ?? idsOf(account);
};

export const createEventWriter = (parts: EventParts) => {
  const { users, dedup } = parts;
  const storeEntries = async (
    db: Transaction,
    entries: readonly Entry[],
    checks: EventChecks,
    time: number,
  ): Promise<void> => {
    const missing = unresolvedUsers(entries);
    assignUsers(parts, entries, await users.create(db, missing, { time, withEvent: true }));
    const both = entries.filter(hasUserAndContact);
    const active = new Set(entries.flatMap(({ user }) => user ?? []));
    const [updatedUsers] = await Promise.all([
      users.recordActivity(
        db,
        [...active],
        both.flatMap(({ user }) => user ?? []),
      ),
      preventErasure(
        byAccount(entries.filter(({ named }) => named !== null)).map(
          ([account, group]) => [db.forAccount(account), distinct(group.flatMap(({ named }) => named ?? []))] as const,
        ),
      ),
    ]);
    const links = await findLinks(db, both);
    // Draws sequences after the users' rows are locked, so that they are higher than those of transactions that held
    // the locks before.
    const [isNew, drawn] = await Promise.all([
      dedup.store(db, entries.map(keyOf)),
      drawSequences(db, entries.length + links.size),
    ]);

    const listing = markContactsChanged(db, updatedUsers, drawn[0] as number);
    const newEntries = entries.filter((entry) => {
      const isStored = isNew(keyOf(entry));
      entry.outcome = isStored ? storedOutcome : duplicate;
      return isStored;
    });
    if (newEntries.length === 0) return listing;
    const rest = drawn.values();
    const next = () => rest.next().value as number;
    const linking: Promise<unknown>[] = [];
    const sequences = newEntries.map((entry) => {
      const sequence = next();
      if (links.has(entry)) {
        const { token, receivedTime: time } = entry.batch;
        const link = { user: userOf(entry), contact: entry.contact, verified: true, claim: null, token, time };
        linking.push(insertStatement(db.forAccount(accountOf(entry)), link, next()));
      }
      return sequence;
    });
    const ofContacts = byAccount(newEntries.filter(({ contact }) => contact !== null));
    const updates = [
      listing,
      ...linking,
      ...ofContacts.flatMap(([account, group]) => updateContactActivity(db.forAccount(account), group)),
    ];
    const unlisted = newEntries.filter((entry) => mayHaveNewID(entry, checks));
    // Sends all statements together if there are no new IDs.
    const [idsOf] =
      unlisted.length === 0
        ? [checks.idsOf]
        : await Promise.all([registerIDs(parts, db, unlisted, checks), ...updates]);
    const rows = toRows(db, newEntries, sequences, idsOf);
    await Promise.all([...updates, ...rows.map((each) => writeRows(db, each))]);
  };

  /** Returns an outcome for each event of each batch. A refused event does not affect the others. */
  const storeEvents = async (db: Transaction, batches: readonly EventBatch[]): Promise<EventOutcome[][]> => {
    const time = Math.max(...batches.map(({ receivedTime }) => receivedTime));
    for (const account of distinct(batches.map(({ account }) => account))) db.forAccount(account).dayOf(time);
    const lists = await toEntries(parts, db, batches);
    const all = lists.flat();
    const checks = await checkEntries(parts, db, all);
    const remaining = all.filter(({ outcome }) => outcome === undefined);
    if (remaining.length > 0) await storeEntries(db, remaining, checks, time);
    return lists.map((entries) => entries.map(({ outcome }) => outcome as EventOutcome));
  };

  return storeEvents;
};
