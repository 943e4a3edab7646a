/**
 * Detaches erased contacts, a limited number of rows per commit:
 *
 * 1. Removes refused requests that name the contact.
 * 2. Replaces the contact's claims and requests with keyed hashes.
 * 3. Turns the contact's links into unlinks.
 *
 * Until this is done, reads compute the result (statements.ts, erased-stretches.ts). A write that would change a
 * user's other statements detaches that user first.
 */
import type { ClaimRow } from '../../rules/claims.ts';
import { claimName, handleName, requestKeyName, requestName } from '../../rules/erased-names.ts';
import { type SentRequest, tokenInKey } from '../../rules/idempotency-keys.ts';
import { createStatementReader } from '../contacts/statements.ts';
import type { Connection } from '../database/connection.ts';
import { createErasingReader } from './erased-stretches.ts';
import { createErasingRefused, type ListedBytes } from './erasing-refused.ts';
import type { Erasure } from './erasure-record.ts';

const defaultRowsPerStep = 100;

interface ErasingContact extends Erasure {
  readonly contact: number;
  /** Whether claims, requests or refused requests still identify the contact. */
  readonly hasNames: 0 | 1;
}

export type EraseName = (name: string, erasure: Erasure) => void;

const prepareStatements = (db: Connection, rowsPerStep: number) => {
  const columns = `
    e.contact, e.hasNames, x.erasure, x.account, x.erasedTime, x.verifiedOnly
    FROM erasing_contact e JOIN erasure x ON x.erasure = e.erasure`;
  return {
    begin: db.prepare(`
      INSERT INTO erasing_contact (contact, erasure, through, contactUUID, contactEmailaddress, contactExternalID)
      SELECT contact, @erasure, @through, iif(@isSearched, contactUUID, NULL), iif(@isSearched, contactEmailaddress, NULL),
        iif(@isSearched AND externalIDClaim IS NOT 0, contactExternalID, NULL)
      FROM contact WHERE contact IN (SELECT value FROM json_each(@group))`),
    next: db.prepare<[], ErasingContact>(`SELECT ${columns} LIMIT 1`),
    nextWithNames: db.prepare<[], ErasingContact>(`SELECT ${columns} WHERE e.hasNames LIMIT 1`),
    withNamesOf: db.prepare<[number], ErasingContact>(`SELECT ${columns} WHERE e.hasNames AND e.erasure = ? LIMIT 1`),
    setNameless: db.prepare('UPDATE erasing_contact SET hasNames = 0 WHERE contact = ?'),
    isErasing: db.prepare<[number], number>('SELECT 1 FROM erasing_contact WHERE contact = ?').pluck(),
    insertStretch: db.prepare('INSERT INTO erased_stretch VALUES (?, ?, ?, ?)'),
    unlink: db.prepare(`
      UPDATE statement SET voided = @voided, verified = @verified, contact = NULL, claim = NULL, erased = 1
      WHERE sequence = @sequence`),
    nextUser: db.prepare<[number], number>('SELECT user FROM statement WHERE contact = ? LIMIT 1').pluck(),
    nextClaims: db.prepare<[number], Pick<ClaimRow, 'claim' | 'claimID' | 'token' | 'user'>>(
      `SELECT claim, claimID, token, user FROM claim WHERE contact = ? LIMIT ${rowsPerStep}`,
    ),
    dropClaim: db.prepare('DELETE FROM claim WHERE claim = ?'),
    nextRequests: db.prepare<[number], SentRequest & { day: number; userUUID: string | null }>(`
      SELECT r.day, r.token, r.user, u.userUUID, r.requestUUID FROM request_repeat r LEFT JOIN user u ON u.user = r.user
      WHERE r.contact = ? LIMIT ${rowsPerStep}`),
    dropRequest: db.prepare('DELETE FROM request_repeat WHERE day = ? AND requestUUID = ? AND token = ? AND user = ?'),
    dropValues: [
      `DELETE FROM contact_tag WHERE contact = @contact
       AND tagID IN (SELECT tagID FROM contact_tag WHERE contact = @contact LIMIT @limit)`,
      `DELETE FROM contact_attr WHERE contact = @contact
       AND attrID IN (SELECT attrID FROM contact_attr WHERE contact = @contact LIMIT @limit)`,
      // Deletes the recorded values from before and after imports.
      `DELETE FROM import_contact WHERE contact = @contact
       AND importID IN (SELECT importID FROM import_contact WHERE contact = @contact LIMIT @limit)`,
    ].map((sql) => db.prepare(sql)),
    end: db.prepare('DELETE FROM erasing_contact WHERE contact = ?'),
    dropContact: db.prepare('DELETE FROM contact WHERE contact = ?'),
  };
};

/** `removeRefused` removes a refused request from its list. A step changes about `rowsPerStep` rows. */
export const createDetaching = (
  db: Connection,
  removeRefused: (row: ListedBytes) => void,
  rowsPerStep = defaultRowsPerStep,
) => {
  const { isUnderWay, stretchesOf } = createErasingReader(db);
  const statements = createStatementReader(db);
  const refused = createErasingRefused(db, removeRefused, rowsPerStep);
  const prepared = prepareStatements(db, rowsPerStep);

  /** Detaches a user from all contacts that are being erased. Returns the number of changed rows. */
  const detach = (user: number): number => {
    const stretches = stretchesOf(user);
    for (const { erasure, after, through } of stretches) prepared.insertStretch.run(erasure, user, after, through);
    const links = statements
      .ofUserUnfiltered(user)
      .filter(({ contact }) => contact !== null && prepared.isErasing.get(contact) !== undefined);
    const rows = refused.addUserOf(links) + stretches.length + links.length;
    // Gives each link a copy of its claim's marks, because the claim is deleted.
    for (const { sequence, verified, voided } of links)
      prepared.unlink.run({ sequence, verified: Number(verified), voided: Number(voided) });
    return rows;
  };

  /**
   * Deletes about `limit` of a contact's tags, attributes, imported values, requests and claims. Returns how many rows
   * changed.
   */
  const removeNames = (erasing: ErasingContact, limit: number, eraseName: EraseName): number => {
    const { contact } = erasing;
    let rows = 0;
    for (const drop of prepared.dropValues) {
      rows += drop.run({ contact, limit: limit - rows }).changes;
      if (rows >= limit) return rows;
    }
    const requests = prepared.nextRequests.all(contact);
    for (const { day, token, user, userUUID, requestUUID } of requests) {
      if (rows >= limit) return rows;
      const isKey = token === tokenInKey;
      const name = isKey ? requestKeyName(user, requestUUID) : requestName(token, userUUID, requestUUID);
      eraseName(name, erasing);
      prepared.dropRequest.run(day, requestUUID, token, user);
      rows += 2;
    }
    const claims = prepared.nextClaims.all(contact);
    for (const { claim, claimID, token, user } of claims) {
      if (rows >= limit) return rows;
      // Detaches the claim's user first, because the claim's marks apply to the user's links.
      rows += detach(user);
      for (const name of [handleName(token, claimID), claimName(claimID)]) eraseName(name, erasing);
      prepared.dropClaim.run(claim);
      rows += 3;
    }
    if (requests.length < rowsPerStep && claims.length < rowsPerStep) prepared.setNameless.run(contact);
    return rows + 1;
  };

  /**
   * Detaches users from a contact until about `limit` rows have changed, then deletes its row. Returns the number of
   * changed rows.
   */
  const removeLinks = ({ contact }: ErasingContact, limit: number): number => {
    let rows = 0;
    while (rows < limit) {
      const user = prepared.nextUser.get(contact);
      if (user === undefined) {
        prepared.end.run(contact);
        prepared.dropContact.run(contact);
        return rows + 2;
      }
      rows += detach(user);
    }
    return rows;
  };

  /** Changes about `rowsPerStep` rows, contact by contact. Returns whether there was anything to do. */
  const runStep = (nextContact: () => ErasingContact | undefined, eraseName: EraseName): boolean => {
    // Searches first, because the search needs the names that the rest of the step deletes.
    let rows = refused.step();
    for (let current = nextContact(); current && rows < rowsPerStep; current = nextContact()) {
      rows += current.hasNames
        ? removeNames(current, rowsPerStep - rows, eraseName)
        : removeLinks(current, rowsPerStep - rows);
    }
    return rows > 0;
  };

  return {
    /**
     * Starts to detach contacts from their events up to the sequence `through`. Stores their identifiers only if
     * refused requests must be searched for them.
     */
    begin({ account, erasure }: Erasure, group: readonly number[], through: number): void {
      const isSearched = group.length > 0 && refused.begin(erasure, account);
      prepared.begin.run({ erasure, through, isSearched: Number(isSearched), group: JSON.stringify(group) });
    },
    isUnderWay: (contact: number): boolean => prepared.isErasing.get(contact) !== undefined,

    /** Detaches a user if an erasure is in progress. Call it before any change to the user's history. */
    detachUser: (user: number): void => {
      if (isUnderWay()) detach(user);
    },

    /** Whether claims, requests or refused requests still identify a contact of this erasure. */
    hasNames: (erasure: number): boolean => prepared.withNamesOf.get(erasure) !== undefined,

    /** Removes the names that belong to this erasure, in about `rowsPerStep` rows. */
    removeFirstNames: (erasure: number, eraseName: EraseName) =>
      runStep(() => prepared.withNamesOf.get(erasure), eraseName),

    /**
     * Runs a step. Returns whether there was anything to do. Names come first, because an erasure is acknowledged once
     * they are removed.
     */
    step: (eraseName: EraseName) => runStep(() => prepared.nextWithNames.get() ?? prepared.next.get(), eraseName),

    forget: refused.forget,
  };
};
export type Detaching = ReturnType<typeof createDetaching>;
