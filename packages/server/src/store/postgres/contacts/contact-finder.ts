/** Finds contacts by the names that clients use, and the reason when there is none: unknown or erased. */
import type { Refusal } from '../../../refusal.ts';
import { createNameHash, handleName, missingContact } from '../../rules/erased-names.ts';
import type { NamedContact } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { type ContactRow, readAnswering, readContacts } from './contact-rows.ts';

/** `secret` is the key of the database's hashes. */
export const createContactFinder = (secret: Buffer) => {
  const hashOf = createNameHash(secret);

  const get = async (db: Connection, contact: number): Promise<ContactRow | undefined> =>
    (await readContacts(db, [contact]))[0];

  const findNumber = (db: Connection, account: number, contactUUID: string) =>
    db.get<{ contact: number }>('SELECT contact FROM contact_name WHERE "contactUUID" = $1 AND account = $2', [
      contactUUID,
      account,
    ]);

  const byUUID = async (db: Connection, account: number, contactUUID: string): Promise<ContactRow | undefined> => {
    const found = await findNumber(db, account, contactUUID);
    return found && get(db, found.contact);
  };

  const byAddress = async (db: Connection, account: number, address: string): Promise<ContactRow | undefined> => {
    const found = await db.get<{ contact: number }>(
      'SELECT contact FROM contact_address WHERE "contactEmailaddress" = $1 AND account = $2',
      [address, account],
    );
    return found && get(db, found.contact);
  };

  const byExternalID = async (db: Connection, account: number, externalID: string): Promise<ContactRow | undefined> => {
    const found = await db.get<{ contact: number }>(
      'SELECT contact FROM contact_external_id WHERE "contactExternalID" = $1 AND account = $2',
      [externalID, account],
    );
    return found && get(db, found.contact);
  };

  /** Returns a function that returns the number of the contact that has one of these external IDs. */
  const numbersByExternalID = async (
    db: Connection,
    asked: readonly { readonly account: number; readonly externalID: string }[],
  ): Promise<(account: number, externalID: string) => number | undefined> => {
    if (asked.length === 0) return () => undefined;
    const rows = await db.all<{ account: number; externalID: string; contact: number }>(
      `SELECT account, "contactExternalID" AS "externalID", contact FROM contact_external_id
       WHERE "contactExternalID" = ANY ($1::text[])`,
      [asked.map(({ externalID }) => externalID)],
    );
    const found = new Map(rows.map(({ account, externalID, contact }) => [`${account} ${externalID}`, contact]));
    return (account, externalID) => found.get(`${account} ${externalID}`);
  };

  /** Returns an erasure that erased one of these identifiers; undefined when none was erased. */
  const findErasure = async (db: Connection, account: number, ...identifiers: string[]): Promise<number | undefined> =>
    (
      await db.get<{ erasure: number }>(
        'SELECT erasure FROM erased_identifier WHERE hash = ANY ($1::bytea[]) LIMIT 1',
        [identifiers.map((identifier) => hashOf(account, identifier))],
      )
    )?.erasure;

  /** Returns, for each of these identifiers that name nothing, the Refusal that says so: erased_contact or unknown_contact. */
  const missingEach = async (
    db: Connection,
    asked: readonly { readonly account: number; readonly identifier: string }[],
    field = 'contactUUID',
  ): Promise<Refusal[]> => {
    if (asked.length === 0) return [];
    const hashes = asked.map(({ account, identifier }) => hashOf(account, identifier));
    const rows = await db.all<{ hash: Buffer }>('SELECT hash FROM erased_identifier WHERE hash = ANY ($1::bytea[])', [
      hashes,
    ]);
    const erased = new Set(rows.map(({ hash }) => hash.toString('hex')));
    return hashes.map((hash) => missingContact(field, erased.has(hash.toString('hex'))));
  };

  /** As `missingEach`, for one identifier. */
  const missing = async (db: Connection, account: number, identifier: string, field?: string): Promise<Refusal> =>
    (await missingEach(db, [{ account, identifier }], field))[0] as Refusal;

  return {
    get,
    byUUID,
    byAddress,
    byExternalID,
    numbersByExternalID,
    /**
     * Returns the contact that a request names, without following merges. Throws a Refusal when there is none; `prefix` begins the
     * names of its fields.
     */
    async byName(
      db: Connection,
      { account, contactUUID, externalID, address }: NamedContact,
      prefix = 'contact',
    ): Promise<ContactRow> {
      if (contactUUID !== undefined) {
        const row = await byUUID(db, account, contactUUID);
        if (!row) throw await missing(db, account, contactUUID, `${prefix}UUID`);
        return row;
      }
      if (typeof externalID === 'string') {
        const row = await byExternalID(db, account, externalID);
        if (!row) throw missingContact(`${prefix}ExternalID`, false);
        return row;
      }
      const row = address === undefined ? undefined : await byAddress(db, account, address);
      if (!row) throw missingContact(`${prefix}Emailaddress`, false);
      return row;
    },
    /** Returns the contact at the end of this contact's merges. */
    answering: async (db: Connection, row: ContactRow): Promise<ContactRow> =>
      row.mergedInto === null ? row : readAnswering(db, row.mergedInto),
    hashOf,
    findErasure,
    missing,
    missingEach,
    /** As `missing`, for a handle. With a token that is not the handle's own, it is unknown even when it was erased. */
    missingHandle: (db: Connection, account: number, token: number, handle: string): Promise<Refusal> =>
      missing(db, account, handleName(token, handle)),
  };
};
export type ContactFinder = ReturnType<typeof createContactFinder>;
