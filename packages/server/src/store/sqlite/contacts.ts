/** Contacts: finding them, and writing what a server token says of them. */
import { createHmac } from 'node:crypto';
import { type ContactField, contactFields, type Values } from '../../identity/contact-view.ts';
import { Refusal } from '../../refusal.ts';
import type { ContactChange, NamedContact } from '../store.ts';
import type { Connection } from './connection.ts';
import { createMergeReader } from './merges.ts';

export type ContactRow = Readonly<Record<ContactField, string | null>> & {
  readonly contact: number;
  readonly account: number;
  readonly contactUUID: string;
  readonly contactEmailaddress: string;
  readonly contactStatus: string;
  readonly verified: number;
  readonly mergedInto: number | null;
  readonly mergedTime: number | null;
  readonly firstDay: number | null;
  readonly lastDay: number | null;
  readonly createdTime: number;
  readonly updatedTime: number;
};

const unknown = (field: string) =>
  new Refusal('unknown_contact', { field, message: `${field} names no contact of this account` });

export const createContactFinder = (db: Connection) => {
  const byNumber = db.prepare<[number], ContactRow>('SELECT * FROM contact WHERE contact = ?');
  const byUUID = db.prepare<[number, string], ContactRow>(
    'SELECT * FROM contact WHERE account = ? AND contactUUID = ?',
  );
  const byAddress = db.prepare<[number, string], ContactRow>(
    'SELECT * FROM contact WHERE account = ? AND contactEmailaddress = ?',
  );
  const anyErasure = db.prepare<[], number>('SELECT 1 FROM erasure LIMIT 1').pluck();
  const erasureOf = db.prepare<[Buffer], number>('SELECT erasure FROM erased_identifier WHERE hash = ?').pluck();
  const secret = db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer;
  const merges = createMergeReader(db);

  /** What remains of an identifier once it is erased. */
  const hashOf = (account: number, identifier: string) =>
    createHmac('sha256', secret).update(`${account}\n${identifier}`).digest();

  const findErasure = (account: number, identifier: string): number | undefined =>
    anyErasure.get() === undefined ? undefined : erasureOf.get(hashOf(account, identifier));

  /** Why nothing is found under a contactUUID or handle. */
  const missing = (account: number, identifier: string, field = 'contactUUID'): Refusal =>
    findErasure(account, identifier) === undefined ? unknown(field) : new Refusal('erased_contact', { field });

  const byName = ({ account, contactUUID, address }: NamedContact): ContactRow => {
    if (contactUUID !== undefined) {
      const row = byUUID.get(account, contactUUID);
      if (!row) throw missing(account, contactUUID);
      return row;
    }
    const row = address === undefined ? undefined : byAddress.get(account, address);
    if (!row) throw unknown('contactEmailaddress');
    return row;
  };

  return {
    get: (contact: number) => byNumber.get(contact),
    byUUID: (account: number, contactUUID: string) => byUUID.get(account, contactUUID),
    byAddress: (account: number, address: string) => byAddress.get(account, address),
    /** The very contact that a request names, merged or not; a Refusal when there is none. */
    byName,
    /** The contact that answers for the one that a request names. */
    answering: (name: NamedContact): ContactRow => byNumber.get(merges.follow(byName(name).contact)) as ContactRow,
    hashOf,
    findErasure,
    missing,
  };
};
export type ContactFinder = ReturnType<typeof createContactFinder>;

/** A contact's own values: what claims may add to, and merges. */
export const createValueReader = (db: Connection) => {
  const tags = db.prepare<[number], { tagID: string; opt: number }>(
    'SELECT tagID, opt FROM contact_tag WHERE contact = ?',
  );
  const attributes = db.prepare<[number], { attrID: string; attrValue: string | null }>(
    'SELECT attrID, attrValue FROM contact_attr WHERE contact = ?',
  );
  return (row: ContactRow): Values => ({
    fields: Object.fromEntries(contactFields.flatMap((name) => (row[name] === null ? [] : [[name, row[name]]]))),
    tags: new Map(tags.all(row.contact).map(({ tagID, opt }) => [tagID, opt === 1])),
    attributes: new Map(attributes.all(row.contact).map(({ attrID, attrValue }) => [attrID, attrValue])),
  });
};

export interface CreatedContact {
  readonly account: number;
  readonly address: string;
  readonly newContactUUID: string;
  readonly verified: boolean;
  readonly time: number;
}

export const createContactWriter = (db: Connection) => {
  const finder = createContactFinder(db);
  const valuesOf = createValueReader(db);
  const merges = createMergeReader(db);
  // The same work whether or not the address is known: a browser token must not learn it from the time that this takes.
  const upsert = db.prepare<unknown[], { contact: number; contactUUID: string }>(`
    INSERT INTO contact (account, contactUUID, contactEmailaddress, contactStatus, verified, createdTime, updatedTime)
    VALUES (@account, @newContactUUID, @address, 'active', @verified, @time, @time)
    ON CONFLICT (account, contactEmailaddress) DO UPDATE SET verified = max(verified, @verified)
    RETURNING contact, contactUUID`);
  const setFields = db.prepare(`
    UPDATE contact SET ${contactFields.map((name) => `${name} = @${name}`).join(', ')}, contactStatus = @contactStatus,
      verified = @verified, updatedTime = @time
    WHERE contact = @contact`);
  const setTag = db.prepare(
    'INSERT INTO contact_tag VALUES (?, ?, ?) ON CONFLICT (contact, tagID) DO UPDATE SET opt = excluded.opt',
  );
  const setAttribute = db.prepare(
    'INSERT INTO contact_attr VALUES (?, ?, ?) ON CONFLICT (contact, attrID) DO UPDATE SET attrValue = excluded.attrValue',
  );

  /** Writes what is given over what the contact has; answers the names of the fields that are other than before. */
  const write = (
    row: ContactRow,
    change: Omit<ContactChange, 'account' | 'contactUUID'>,
    verified: boolean,
  ): string[] => {
    const before = valuesOf(row);
    const updated: string[] = [];
    const fields: Record<ContactField, string | null> = { ...row };
    const given =
      change.address === undefined ? change.fields : { ...change.fields, contactEmailaddress: change.address };
    for (const name of contactFields) {
      const value = given[name];
      if (value === undefined || (value ?? '') === (row[name] ?? '')) {
        // Clearing what was never said still says it: no claim shall fill it.
        if (value === null && row[name] === null) fields[name] = '';
        continue;
      }
      fields[name] = value ?? '';
      updated.push(name);
    }
    const contactStatus = change.contactStatus ?? row.contactStatus;
    if (contactStatus !== row.contactStatus) updated.push('contactStatus');

    const tags = [
      ...change.addedTags.map((id) => [id, true] as const),
      ...change.removedTags.map((id) => [id, false] as const),
    ];
    for (const [tagID, opt] of tags) setTag.run(row.contact, tagID, Number(opt));
    if (tags.some(([tagID, opt]) => (before.tags.get(tagID) ?? false) !== opt)) updated.push('contactTagID');
    for (const [attrID, attrValue] of change.attributes) setAttribute.run(row.contact, attrID, attrValue);
    if (change.attributes.some(([attrID, attrValue]) => (before.attributes.get(attrID) ?? null) !== attrValue)) {
      updated.push('contactAttr');
    }
    const time = updated.length > 0 ? change.time : row.updatedTime;
    setFields.run({
      ...fields,
      contact: row.contact,
      contactStatus,
      verified: Math.max(row.verified, Number(verified)),
      time,
    });
    return updated;
  };

  return {
    ...finder,
    /** Makes the address known if it isn't; answers the contact that has it. */
    ensure({ account, address, newContactUUID, verified, time }: CreatedContact): {
      row: ContactRow;
      existed: boolean;
    } {
      const found = upsert.get({ account, address, newContactUUID, verified: Number(verified), time });
      const { contact, contactUUID } = found as { contact: number; contactUUID: string };
      return { row: finder.get(contact) as ContactRow, existed: contactUUID !== newContactUUID };
    },
    /** Writes to the contact that answers for `row`. */
    write(row: ContactRow, change: Omit<ContactChange, 'account' | 'contactUUID'>, verified: boolean) {
      const kept = finder.get(merges.follow(row.contact)) as ContactRow;
      if (change.address !== undefined && change.address !== kept.contactEmailaddress) {
        const holder = finder.byAddress(kept.account, change.address);
        if (holder && holder.contact !== kept.contact)
          throw new Refusal('email_taken', { field: 'contactEmailaddress' });
      }
      return { kept, updated: write(kept, change, verified) };
    },
  };
};
export type ContactWriter = ReturnType<typeof createContactWriter>;
