/** Stores events. */
import { linkedContact } from '../../../identity/statements.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { usesOfEvent } from '../../rules/accounts/catalogue-rules.ts';
import { eventBytes } from '../../rules/row-bytes.ts';
import type { EventBatch, EventOutcome, NewEvent } from '../../store.ts';
import type { CatalogueWriter } from '../accounts/catalogues.ts';
import { isActive, withDay } from '../contacts/active-days.ts';
import type { ClaimWriter } from '../contacts/claims.ts';
import type { ContactRow } from '../contacts/contact-rows.ts';
import type { ContactWriter } from '../contacts/contacts.ts';
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
  readonly contacts: ContactWriter;
  readonly claims: ClaimWriter;
  readonly links: LinkWriter;
  readonly dedup: Dedup;
  readonly rollups: Rollups;
  readonly log: EventLogWriter;
}

/** The user or contact that an event was logged against. `user` is undefined while the userUUID is not known. */
interface Against {
  readonly userUUID: string | null;
  readonly user: User | undefined;
  readonly contact: ContactRow | null;
}

/** The key by which a repeated event is recognized. */
const sentAs = ({ browser }: EventBatch, { eventUUID }: NewEvent, { user, contact }: Omit<Against, 'userUUID'>) => ({
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
   * A browser token's contactUUID is a handle: it stands for the user of its claim, and only with the token and user of that claim.
   */
  const againstHandle = (batch: EventBatch, event: NewEvent, handle: string): Against => {
    const claim = claims.find(batch.account, handle);
    if (!claim || claim.token !== batch.token) throw contacts.missingHandle(batch.account, batch.token, handle);
    const userUUID = userUUIDOf.get(claim.user) as string;
    if (event.userUUID !== null && event.userUUID !== userUUID)
      throw new Refusal('unknown_contact', { field: 'contactUUID' });
    return { userUUID, user: users.find(batch.account, userUUID), contact: null };
  };

  const against = (batch: EventBatch, event: NewEvent): Against => {
    const { account, browser } = batch;
    const { userUUID, contactUUID, externalID } = event;
    if (browser && contactUUID !== null) return againstHandle(batch, event, contactUUID);
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
   * Returns whom an event was logged against, and writes nothing of the event. Throws a Refusal when the contact is unknown. Throws
   * one when the catalogues forbid the event, unless it was sent before: then it was stored, whatever they permit today.
   */
  const examine = (batch: EventBatch, event: NewEvent, day: number, check: () => void): Against => {
    const found = against(batch, event);
    try {
      check();
    } catch (refusal) {
      const { user, contact } = found;
      const known = user?.active ?? (found.userUUID === null ? contact : null);
      if (known && dedup.isRepeat(day, sentAs(batch, event, found), known)) return found;
      throw refusal;
    }
    return found;
  };

  const keep = (batch: EventBatch, event: NewEvent, day: number): EventOutcome => {
    const { account, token, browser, receivedTime } = batch;
    const uses = catalogues.usesOf(account, browser, event);
    const check = () => catalogues.check(account, browser, uses);
    const { userUUID, user: known, contact } = examine(batch, event, day, check);
    const user = known ?? (userUUID === null ? undefined : users.ensure(account, userUUID, receivedTime));
    const { eventUUID, eventTime, timeReplaced } = event;
    const active = user?.active ?? (contact as ContactRow);
    const sent = sentAs(batch, event, { user, contact });
    if (!dedup.remember(day, sent, active)) return { kept: false, duplicate: true };
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
      server: sent.server,
      attributes,
    });
    rollups.add({ account, day, sequence, eventID, eventTime, bytes: eventBytes({ ...event, attributes }) });
    if (user) users.seenOn(user, day);
    if (contact && !isActive(contact, day)) setContactDays.run({ ...withDay(contact, day), contact: contact.contact });
    if (user && contact && linkedContact(statements.ofUser(user.user)) === null) {
      links.link({ user: user.user, contact: contact.contact, verified: true, claim: null, token, time: receivedTime });
    }
    return { kept: true };
  };

  return {
    logEvents(batch: EventBatch): EventOutcome[] {
      const day = sequencer.dayOf(batch.receivedTime, batch.isPast);
      return batch.events.map((event) => {
        try {
          return keep(batch, event, day);
        } catch (error) {
          // Events are refused before their first write, so the others of the batch aren't affected.
          if (!(error instanceof Refusal)) throw error;
          return { kept: false, refused: error.code, field: error.field as string, message: error.message };
        }
      });
    },

    /** Throws the first Refusal that any of the events would get. */
    checkEvents(batch: EventBatch): void {
      const day = sequencer.dayOf(batch.receivedTime);
      const { account, browser } = batch;
      for (const event of batch.events)
        examine(batch, event, day, () => catalogues.check(account, browser, usesOfEvent(event)));
    },
  };
};
