/** Stores events. */
import { linkedContact } from '../../../identity/statements.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { usesOfEvent } from '../../rules/accounts/catalogue-rules.ts';
import { eventBytes } from '../../rules/row-bytes.ts';
import type { EventBatch, EventOutcome, NewEvent } from '../../store.ts';
import type { CatalogueWriter } from '../accounts/catalogues.ts';
import { isActive, withDay } from '../contacts/active-days.ts';
import type { ClaimReader } from '../contacts/claims.ts';
import type { ContactFinder } from '../contacts/contact-finder.ts';
import type { ContactRow } from '../contacts/contact-rows.ts';
import type { LinkWriter } from '../contacts/links.ts';
import { createStatementReader } from '../contacts/statements.ts';
import type { User, Users } from '../contacts/users.ts';
import type { Connection } from '../database/connection.ts';
import type { EventLogWriter } from '../event-log/event-log.ts';
import type { Sequencer } from '../transactions/sequencer.ts';
import type { Dedup } from './dedup.ts';
import type { Rollups } from './rollups.ts';

interface EventParts {
  readonly sequencer: Sequencer;
  readonly users: Users;
  readonly catalogues: CatalogueWriter;
  readonly contacts: ContactFinder;
  readonly claims: ClaimReader;
  readonly links: LinkWriter;
  readonly dedup: Dedup;
  readonly rollups: Rollups;
  readonly log: EventLogWriter;
}

/** The user or contact of an event. `user` is undefined if the userUUID is new. */
interface EventSubject {
  readonly userUUID: string | null;
  readonly user: User | undefined;
  readonly contact: ContactRow | null;
}

/** The key by which a repeated event is recognized. */
const toEventKey = (
  { browser }: EventBatch,
  { eventUUID }: NewEvent,
  { user, contact }: Omit<EventSubject, 'userUUID'>,
) => ({
  eventUUID,
  holder: user?.user ?? -(contact as ContactRow).contact,
  server: browser ? (0 as const) : (1 as const),
});

export const createEventWriter = (db: Connection, parts: EventParts) => {
  const { sequencer, users, catalogues, contacts, claims, links, dedup, rollups, log } = parts;
  const statements = createStatementReader(db);
  const setContactDays = db.prepare(
    'UPDATE contact SET firstDay = @firstDay, lastDay = @lastDay, days = @days WHERE contact = @contact',
  );
  const userUUIDOf = db.prepare<[number], string>('SELECT userUUID FROM user WHERE user = ?').pluck();

  /**
   * A browser token's contactUUID is a handle: it identifies the user of its claim, and is valid with that token and
   * user only.
   */
  const findSubjectByHandle = (batch: EventBatch, event: NewEvent, handle: string): EventSubject => {
    const claim = claims.find(batch.account, handle);
    if (!claim || claim.token !== batch.token) throw contacts.missingHandle(batch.account, batch.token, handle);
    const userUUID = userUUIDOf.get(claim.user) as string;
    if (event.userUUID !== null && event.userUUID !== userUUID)
      throw new Refusal('unknown_contact', { field: 'contactUUID' });
    return { userUUID, user: users.find(batch.account, userUUID), contact: null };
  };

  const findSubject = (batch: EventBatch, event: NewEvent): EventSubject => {
    const { account, browser } = batch;
    const { userUUID, contactUUID, externalID } = event;
    if (browser && contactUUID !== null) return findSubjectByHandle(batch, event, contactUUID);
    return {
      userUUID,
      user: userUUID === null ? undefined : users.find(account, userUUID),
      contact:
        contactUUID === null && externalID === null
          ? null
          : contacts.byName({ account, contactUUID: contactUUID ?? undefined, externalID }),
    };
  };

  /**
   * Returns an event's subject. Writes nothing. Throws a Refusal if the contact is unknown, or if the catalogues forbid
   * the event. A repeat is exempt, because it was stored while the catalogues still allowed it.
   */
  const examine = (batch: EventBatch, event: NewEvent, day: number, check: () => void): EventSubject => {
    const subject = findSubject(batch, event);
    try {
      check();
    } catch (refusal) {
      const { user, contact } = subject;
      const active = user?.active ?? (subject.userUUID === null ? contact : null);
      if (active && dedup.isRepeat(day, toEventKey(batch, event, subject), active)) return subject;
      throw refusal;
    }
    return subject;
  };

  const store = (batch: EventBatch, event: NewEvent, day: number): EventOutcome => {
    const { account, token, browser, receivedTime } = batch;
    const uses = catalogues.usesOf(account, browser, event);
    const check = () => catalogues.check(account, browser, uses);
    const { userUUID, user: existingUser, contact } = examine(batch, event, day, check);
    const user = existingUser ?? (userUUID === null ? undefined : users.ensure(account, userUUID, receivedTime));
    const { eventUUID, eventTime, timeReplaced } = event;
    const active = user?.active ?? (contact as ContactRow);
    const key = toEventKey(batch, event, { user, contact });
    if (!dedup.remember(day, key, active)) return { kept: false, duplicate: true };
    catalogues.register(account, browser, uses);
    const { eventID, attributes } = catalogues.storedKindOf(account, event);
    const sequence = sequencer.nextSequence();
    log.append({
      sequence,
      day,
      account,
      user: user?.user ?? null,
      contact: contact?.contact ?? null,
      eventID,
      eventUUID,
      eventTime,
      receivedTime,
      timeReplaced: timeReplaced ? 1 : 0,
      server: key.server,
      attributes,
    });
    rollups.add({ account, day, sequence, eventID, eventTime, bytes: eventBytes({ ...event, attributes }) });
    if (user) users.addActiveDay(user, day);
    if (contact && !isActive(contact, day)) setContactDays.run({ ...withDay(contact, day), contact: contact.contact });
    if (user && contact && linkedContact(statements.ofUser(user.user)) === null) {
      links.link(account, {
        user: user.user,
        contact: contact.contact,
        verified: true,
        claim: null,
        token,
        time: receivedTime,
      });
    }
    return { kept: true };
  };

  return {
    logEvents(batch: EventBatch): EventOutcome[] {
      const day = sequencer.dayOf(batch.receivedTime, batch.isSimulated);
      return batch.events.map((event) => {
        try {
          return store(batch, event, day);
        } catch (error) {
          // Only this event is affected, because an event is refused before its first write.
          if (!(error instanceof Refusal)) throw error;
          return { kept: false, refused: error.code, field: error.field as string, message: error.message };
        }
      });
    },

    /** Throws the first Refusal that one of the events would get. */
    checkEvents(batch: EventBatch): void {
      const day = sequencer.dayOf(batch.receivedTime);
      const { account, browser } = batch;
      for (const event of batch.events)
        examine(batch, event, day, () => catalogues.check(account, browser, usesOfEvent(event)));
    },
  };
};
