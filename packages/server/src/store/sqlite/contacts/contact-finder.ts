/** Finds contacts by contactUUID, external ID or address, and builds the Refusal if there is none. */
import type { Refusal } from '../../../shared/refusal.ts';
import { claimName, createNameHash, handleName, missingContact } from '../../rules/erased-names.ts';
import type { NamedContact } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { type ContactRow, createMergeReader } from './contact-rows.ts';

export const createContactFinder = (db: Connection) => {
  const byNumber = db.prepare<[number], ContactRow>('SELECT * FROM contact WHERE contact = ?');
  const byUUID = db.prepare<[number, string], ContactRow>(
    'SELECT * FROM contact WHERE account = ? AND contactUUID = ? AND mergedInto IS NOT contact',
  );
  const byAddress = db.prepare<[number, string], ContactRow>(
    'SELECT * FROM contact WHERE account = ? AND contactEmailaddress = ?',
  );
  const byExternalID = db.prepare<{ account: number; externalID: string }, ContactRow>(
    `SELECT * FROM contact WHERE account = @account AND contactExternalID = @externalID AND contactExternalID > ''`,
  );
  const anyErasure = db.prepare<[], number>('SELECT 1 FROM erasure LIMIT 1').pluck();
  const erasureOf = db.prepare<[Buffer], number>('SELECT erasure FROM erased_identifier WHERE hash = ?').pluck();
  const erasingClaim = db.prepare<[number, string], { token: number }>(
    'SELECT c.token FROM claim c JOIN erasing_contact e ON e.contact = c.contact WHERE c.account = ? AND c.claimID = ?',
  );
  const hashOf = createNameHash(db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer);
  const merges = createMergeReader(db);

  const findErasure = (account: number, identifier: string): number | undefined =>
    anyErasure.get() === undefined ? undefined : erasureOf.get(hashOf(account, identifier));

  /** Returns the Refusal for an identifier that matches no contact. */
  const missing = (account: number, identifier: string, field = 'contactUUID'): Refusal =>
    missingContact(field, findErasure(account, identifier) !== undefined);

  /** Whether a claim was erased, for callers with access to the whole account. */
  const isErasedClaim = (account: number, claimID: string): boolean =>
    erasingClaim.get(account, claimID) !== undefined || findErasure(account, claimName(claimID)) !== undefined;

  /**
   * Whether a handle was erased. Only the token that created the handle may know: for other tokens it never existed.
   */
  const isErasedHandle = (account: number, token: number, handle: string): boolean =>
    erasingClaim.get(account, handle)?.token === token || findErasure(account, handleName(token, handle)) !== undefined;

  /** Returns the Refusal for a handle that matches none of the token's claims. */
  const missingHandle = (account: number, token: number, handle: string): Refusal =>
    missingContact('contactUUID', isErasedHandle(account, token, handle));

  const byName = ({ account, contactUUID, externalID, address }: NamedContact, prefix = 'contact'): ContactRow => {
    if (contactUUID !== undefined) {
      const row = byUUID.get(account, contactUUID);
      if (!row) throw missing(account, contactUUID, `${prefix}UUID`);
      return row;
    }
    const isByID = typeof externalID === 'string';
    const row = isByID
      ? byExternalID.get({ account, externalID })
      : address === undefined
        ? undefined
        : byAddress.get(account, address);
    if (!row) throw missingContact(`${prefix}${isByID ? 'ExternalID' : 'Emailaddress'}`, false);
    return row;
  };

  return {
    get: (contact: number) => byNumber.get(contact),
    byAddress: (account: number, address: string) => byAddress.get(account, address),
    byExternalID: (account: number, externalID: string) => byExternalID.get({ account, externalID }),
    /**
     * Returns the contact that a request identifies, merged or not. Throws a Refusal if there is none. `prefix`
     * precedes the request's field names in the error.
     */
    byName,
    /** Returns the contact at the end of this contact's merges. */
    followMerges: (contact: number): ContactRow => byNumber.get(merges.follow(contact)) as ContactRow,
    hashOf,
    findErasure,
    isErasedClaim,
    isErasedHandle,
    missing,
    missingHandle,
  };
};
export type ContactFinder = ReturnType<typeof createContactFinder>;
