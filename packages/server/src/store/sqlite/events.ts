/** Keeping events. */
import { linkedContact } from '../../identity/statements.ts';
import { Refusal } from '../../refusal.ts';
import type { Use } from '../catalogue-rules.ts';
import { eventBytes } from '../row-bytes.ts';
import type { EventBatch, EventOutcome, NewEvent } from '../store.ts';
import { isActive, withDay } from './active-days.ts';
import type { CatalogueWriter } from './catalogues.ts';
import type { ClaimWriter } from './claims.ts';
import type { Connection } from './connection.ts';
import type { ContactRow } from './contact-finder.ts';
import type { ContactWriter } from './contacts.ts';
import type { BlockWriter } from './event-blocks.ts';
import type { LinkWriter } from './links.ts';
import type { Position } from './position.ts';
import type { Repeats } from './repeats.ts';
import { createStatementReader } from './statements.ts';
import type { Totals } from './totals.ts';
import type { User, Users } from './users.ts';

export interface EventParts {
  readonly position: Position;
  readonly users: Users;
  readonly catalogues: CatalogueWriter;
  readonly contacts: ContactWriter;
  readonly claims: ClaimWriter;
  readonly links: LinkWriter;
  readonly repeats: Repeats;
  readonly totals: Totals;
  readonly blocks: BlockWriter;
}

/** Whom an event was logged against. `user` is undefined while nothing is known of that userUUID. */
interface Against {
  readonly userUUID: string | null;
  readonly user: User | undefined;
  readonly contact: ContactRow | null;
}

/** What an event is known by when it is sent again. */
const sentAs = ({ browser }: EventBatch, { eventUUID }: NewEvent, { user, contact }: Omit<Against, 'userUUID'>) => ({
  eventUUID,
  holder: user?.user ?? -(contact as ContactRow).contact,
  server: browser ? (0 as const) : (1 as const),
});

export const createEventWriter = (db: Connection, parts: EventParts) => {
  const { position, users, catalogues, contacts, claims, links, repeats, totals, blocks } = parts;
  const statements = createStatementReader(db);
  const setContactDays = db.prepare(
    'UPDATE contact SET firstDay = @firstDay, lastDay = @lastDay, days = @days WHERE contact = @contact',
  );
  const userUUIDOf = db.prepare<[number], string>('SELECT userUUID FROM user WHERE user = ?').pluck();

  /** A browser token's contactUUID is a handle: it stands for the user of its claim, with its token and user only. */
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
    const { userUUID, contactUUID } = event;
    if (browser && contactUUID !== null) return againstHandle(batch, event, contactUUID);
    return {
      userUUID,
      user: userUUID === null ? undefined : users.find(account, userUUID),
      contact: contactUUID === null ? null : contacts.byName({ account, contactUUID }),
    };
  };

  /**
   * Whom an event is against. Throws the Refusal that it deserves, unless it was sent before: that one was kept, whatever may
   * be said today. Writes nothing of the event.
   */
  const examine = (batch: EventBatch, event: NewEvent, uses: readonly Use[], day: number): Against => {
    const found = against(batch, event);
    try {
      catalogues.check(batch.account, batch.browser, uses);
    } catch (refusal) {
      const { user, contact } = found;
      const known = user?.active ?? (found.userUUID === null ? contact : null);
      if (known && repeats.isRepeat(day, sentAs(batch, event, found), known)) return found;
      throw refusal;
    }
    return found;
  };

  const keep = (batch: EventBatch, event: NewEvent, day: number): EventOutcome => {
    const { account, token, browser, receivedTime } = batch;
    const uses = catalogues.usesOf(account, browser, event);
    const { userUUID, user: known, contact } = examine(batch, event, uses, day);
    const user = known ?? (userUUID === null ? undefined : users.ensure(account, userUUID, receivedTime));
    const { eventID, eventUUID, eventTime, timeReplaced, attributes } = event;
    const active = user?.active ?? (contact as ContactRow);
    const sent = sentAs(batch, event, { user, contact });
    if (!repeats.remember(day, sent, active)) return { kept: false, duplicate: true };
    catalogues.register(account, browser, uses);
    const sequence = position.nextSequence();
    blocks.add({
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
    totals.add({ account, day, sequence, eventID, eventTime, bytes: eventBytes(event) });
    if (user) users.seenOn(user, day);
    if (contact && !isActive(contact, day)) setContactDays.run({ ...withDay(contact, day), contact: contact.contact });
    if (user && contact && linkedContact(statements.ofUser(user.user)) === null) {
      links.link({ user, contact: contact.contact, verified: true, claim: null, token, time: receivedTime });
    }
    return { kept: true };
  };

  return {
    logEvents(batch: EventBatch): EventOutcome[] {
      const day = position.dayOf(batch.receivedTime);
      return batch.events.map((event) => {
        try {
          return keep(batch, event, day);
        } catch (error) {
          // Refused before the first write: the others of the batch stand.
          if (!(error instanceof Refusal)) throw error;
          return { kept: false, refused: error.code, field: error.field as string, message: error.message };
        }
      });
    },

    /** Throws the first Refusal that one of the events would meet. */
    checkEvents(batch: EventBatch): void {
      const day = position.dayOf(batch.receivedTime);
      for (const event of batch.events)
        examine(batch, event, catalogues.usesOf(batch.account, batch.browser, event), day);
    },
  };
};
