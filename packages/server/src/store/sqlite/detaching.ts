/**
 * Detaching an erased contact: its links become unlinks, and its claims and requests keyed hashes, some of them in each
 * commit. Until it is done, reads compute what will be left (statements.ts, erasing.ts), and a write that would change what
 * else is said of a user detaches that user first.
 */
import { claimName, handleName, requestKeyName, requestName } from '../erased-names.ts';
import { tokenInKey } from '../sent-keys.ts';
import type { Connection } from './connection.ts';
import { createErasingReader } from './erasing.ts';
import type { Erased } from './erasure-record.ts';

/** Rows that a step changes, about. */
const rowsPerStep = 100;

interface ErasingContact extends Omit<Erased, 'hash'> {
  readonly contact: number;
  readonly erasure: number;
}

interface RequestRow {
  readonly day: number;
  readonly token: number;
  readonly user: number;
  readonly userUUID: string;
  readonly requestUUID: string;
}

export type EraseName = (identifier: string, erased: Omit<Erased, 'hash'>, erasure: number) => void;

export const createDetaching = (db: Connection) => {
  const erasing = createErasingReader(db);
  const begin = db.prepare('INSERT INTO erasing_contact VALUES (?, ?, ?)');
  const next = db.prepare<[], ErasingContact>(`
    SELECT e.contact, e.erasure, x.account, x.erasedTime, x.verifiedOnly
    FROM erasing_contact e JOIN erasure x ON x.erasure = e.erasure LIMIT 1`);
  const isOne = db.prepare<[number], number>('SELECT 1 FROM erasing_contact WHERE contact = ?').pluck();
  const insertStretch = db.prepare('INSERT INTO erased_stretch VALUES (?, ?, ?, ?)');
  // What its claim's marks made of it goes with the claim: it is written down first.
  const unlink = db.prepare(`
    UPDATE statement SET
      voided = voided OR (NOT verified AND coalesce((SELECT c.voided FROM claim c WHERE c.claim = statement.claim), 0)),
      verified = verified OR coalesce((SELECT c.accepted AND NOT c.voided FROM claim c WHERE c.claim = statement.claim), 0),
      contact = NULL, claim = NULL, erased = 1
    WHERE user = ? AND contact IN (SELECT contact FROM erasing_contact)`);
  const nextUser = db.prepare<[number], number>('SELECT user FROM statement WHERE contact = ? LIMIT 1').pluck();
  const usersOfToken = db
    .prepare<[number], number>(`
      SELECT DISTINCT s.user FROM erasing_contact e JOIN statement s ON s.contact = e.contact
      WHERE EXISTS (SELECT 1 FROM statement o WHERE o.user = s.user AND o.token = ?)`)
    .pluck();
  const nextClaims = db.prepare<[number], { claim: number; claimID: string; token: number }>(
    `SELECT claim, claimID, token FROM claim WHERE contact = ? LIMIT ${rowsPerStep}`,
  );
  const dropClaim = db.prepare('DELETE FROM claim WHERE claim = ?');
  const nextRequests = db.prepare<[number], RequestRow>(`
    SELECT r.day, r.token, r.user, u.userUUID, r.requestUUID FROM request_repeat r JOIN user u ON u.user = r.user
    WHERE r.contact = ? LIMIT ${rowsPerStep}`);
  const dropRequest = db.prepare(
    'DELETE FROM request_repeat WHERE day = ? AND requestUUID = ? AND token = ? AND user = ?',
  );
  const end = db.prepare('DELETE FROM erasing_contact WHERE contact = ?');
  const dropContact = db.prepare('DELETE FROM contact WHERE contact = ?');

  /** Answers how many rows that changed. */
  const detach = (user: number): number => {
    const stretches = erasing.stretchesOf(user);
    for (const { erasure, after, through } of stretches) insertStretch.run(erasure, user, after, through);
    return stretches.length + unlink.run(user).changes;
  };

  const detachUsers = (contact: number): boolean => {
    let rows = 0;
    for (let user = nextUser.get(contact); user !== undefined; user = nextUser.get(contact)) {
      rows += detach(user);
      if (rows >= rowsPerStep) break;
    }
    return rows > 0;
  };

  return {
    begin: (contact: number, erasure: number, through: number) => begin.run(contact, erasure, through),
    isUnderWay: (contact: number): boolean => isOne.get(contact) !== undefined,

    /** Before anything changes that decides about the user's history. */
    detachUser: (user: number): void => {
      if (erasing.isUnderWay()) detach(user);
    },
    /** The same, for all users of a token. */
    detachToken: (token: number): void => {
      if (erasing.isUnderWay()) usersOfToken.all(token).forEach(detach);
    },

    /** A step; answers whether there was anything to do. */
    step(eraseName: EraseName): boolean {
      const found = next.get();
      if (!found) return false;
      const { contact, erasure, ...erased } = found;
      if (detachUsers(contact)) return true;
      const claims = nextClaims.all(contact);
      for (const { claim, claimID, token } of claims) {
        for (const name of [handleName(token, claimID), claimName(claimID)]) eraseName(name, erased, erasure);
        dropClaim.run(claim);
      }
      if (claims.length > 0) return true;
      const requests = nextRequests.all(contact);
      for (const { day, token, user, userUUID, requestUUID } of requests) {
        const isKey = token === tokenInKey;
        const name = isKey ? requestKeyName(user, requestUUID) : requestName(token, userUUID, requestUUID);
        eraseName(name, erased, erasure);
        dropRequest.run(day, requestUUID, token, user);
      }
      if (requests.length > 0) return true;
      end.run(contact);
      dropContact.run(contact);
      return true;
    },
  };
};
export type Detaching = ReturnType<typeof createDetaching>;
