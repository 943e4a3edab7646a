/** Finds contacts by the identifiers that clients use or, if there is none, the reason: unknown or erased. */
import type { Refusal } from '../../../shared/refusal.ts';
import { createNameHash, handleName, missingContact } from '../../rules/erased-names.ts';
import type { NamedContact } from '../../store.ts';
import type { AccountConnection } from '../database/connection.ts';
import { type ContactRow, readContacts, readRemainingContact } from './contact-rows.ts';
import { type NumberQuery, numbersOf } from './owner-facts.ts';

type Name = Omit<NamedContact, 'account'>;

/** Returns the identifier used to find a named contact. */
const identifierIn = ({ contactUUID, externalID, address }: Name) => {
  if (contactUUID !== undefined) return { name: 'uuid', value: contactUUID } as const;
  if (typeof externalID === 'string') return { name: 'externalID', value: externalID } as const;
  return address === undefined ? undefined : ({ name: 'address', value: address } as const);
};

/** `secret` is the database's HMAC key. */
export const createContactFinder = (secret: Buffer) => {
  const hashOf = createNameHash(secret);

  const get = async (db: AccountConnection, contact: number): Promise<ContactRow | undefined> =>
    (await readContacts(db, [contact]))[0];

  const numberIn = {
    uuid: 'SELECT contact FROM contact_name WHERE account = $1 AND "contactUUID" = $2',
    address: 'SELECT contact FROM contact_address WHERE account = $1 AND "contactEmailaddress" = $2',
    externalID: 'SELECT contact FROM contact_external_id WHERE account = $1 AND "contactExternalID" = $2',
  } as const;
  const find = async (
    db: AccountConnection,
    by: keyof typeof numberIn,
    value: string,
  ): Promise<ContactRow | undefined> => {
    const place = await db.get<{ contact: number }>(numberIn[by], [db.account, value]);
    return place && get(db, place.contact);
  };

  /** Returns the row numbers of the contacts with these external IDs. */
  const numbersByExternalID = async (
    db: AccountConnection,
    externalIDs: readonly string[],
  ): Promise<Map<string, number>> => {
    if (externalIDs.length === 0) return new Map();
    const rows = await db.all<{ externalID: string; contact: number }>(
      `SELECT "contactExternalID" AS "externalID", contact FROM contact_external_id
       WHERE account = $1 AND "contactExternalID" = ANY ($2::text[])`,
      [db.account, externalIDs],
    );
    return new Map(rows.map(({ externalID, contact }) => [externalID, contact]));
  };

  /** Returns an erasure of one of these identifiers, if any. */
  const findErasure = async (db: AccountConnection, ...identifiers: string[]): Promise<number | undefined> =>
    (
      await db.get<{ erasure: number }>(
        'SELECT erasure FROM erased_identifier WHERE account = $1 AND hash = ANY ($2::bytea[]) LIMIT 1',
        [db.account, identifiers.map((identifier) => hashOf(db.account, identifier))],
      )
    )?.erasure;

  /** Returns the Refusal for each unknown identifier: erased_contact or unknown_contact. */
  const missingEach = async (
    db: AccountConnection,
    identifiers: readonly string[],
    field = 'contactUUID',
  ): Promise<Refusal[]> => {
    if (identifiers.length === 0) return [];
    const hashes = identifiers.map((identifier) => hashOf(db.account, identifier));
    // Selected as text, to be compared with the hexadecimal digits below.
    const rows = await db.all<{ hash: string }>(
      "SELECT encode(hash, 'hex') AS hash FROM erased_identifier WHERE account = $1 AND hash = ANY ($2::bytea[])",
      [db.account, hashes],
    );
    const erased = new Set(rows.map(({ hash }) => hash));
    return hashes.map((hash) => missingContact(field, erased.has(hash.toString('hex'))));
  };

  /** Like `missingEach`, for one identifier. */
  const missing = async (db: AccountConnection, identifier: string, field?: string): Promise<Refusal> =>
    (await missingEach(db, [identifier], field))[0] as Refusal;

  /** Returns the Refusal for a named contact that does not exist. `prefix` is the start of its field names. */
  const missingNamed = async (
    db: AccountConnection,
    { contactUUID, externalID }: Name,
    prefix = 'contact',
  ): Promise<Refusal> => {
    if (contactUUID !== undefined) return missing(db, contactUUID, `${prefix}UUID`);
    return missingContact(`${prefix}${typeof externalID === 'string' ? 'ExternalID' : 'Emailaddress'}`, false);
  };

  return {
    get,
    byUUID: (db: AccountConnection, contactUUID: string) => find(db, 'uuid', contactUUID),
    byAddress: (db: AccountConnection, address: string) => find(db, 'address', address),
    byExternalID: (db: AccountConnection, externalID: string) => find(db, 'externalID', externalID),
    numbersByExternalID,
    /** Returns the named contact, without following merges. Throws a Refusal if there is none (`missingNamed`). */
    async byName(db: AccountConnection, name: Name, prefix?: string): Promise<ContactRow> {
      const by = identifierIn(name);
      const row = by && (await find(db, by.name, by.value));
      if (!row) throw await missingNamed(db, name, prefix);
      return row;
    },
    missingNamed,
    /** Returns SQL for the row number of the contact that a request identifies. */
    named(name: Name): NumberQuery {
      const by = identifierIn(name);
      return by ? { sql: numberIn[by.name], values: [by.value] } : numbersOf([]);
    },
    /** Returns the contact at the end of a contact's merges. */
    answering: async (db: AccountConnection, row: ContactRow): Promise<ContactRow> =>
      row.mergedInto === null ? row : readRemainingContact(db, row.mergedInto),
    hashOf,
    findErasure,
    missing,
    missingEach,
    /** Like `missing`, for a handle. For any token other than the handle's own, even an erased handle is unknown. */
    missingHandle: (db: AccountConnection, token: number, handle: string): Promise<Refusal> =>
      missing(db, handleName(token, handle)),
  };
};
export type ContactFinder = ReturnType<typeof createContactFinder>;
