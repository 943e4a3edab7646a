/**
 * Detaching an erased contact: its claims and requests become keyed hashes, and then its links unlinks, some of them in each
 * commit. Until it is done, reads compute what will be left (statements.ts, erasing.ts), and a write that would change what
 * else is said of a user detaches that user first.
 */
import { claimName, handleName, requestKeyName, requestName } from '../erased-names.ts';
import { tokenInKey } from '../sent-keys.ts';
import type { Connection } from './connection.ts';
import { createErasingReader } from './erasing.ts';
import type { Erased } from './erasure-record.ts';

const usualRowsPerStep = 100;

interface ErasingContact extends Omit<Erased, 'hash'> {
  readonly contact: number;
  readonly erasure: number;
}

interface ClaimRow {
  readonly claim: number;
  readonly claimID: string;
  readonly token: number;
  readonly user: number;
}

interface RequestRow {
  readonly day: number;
  readonly token: number;
  readonly user: number;
  readonly userUUID: string;
  readonly requestUUID: string;
}

export type EraseName = (identifier: string, erased: Omit<Erased, 'hash'>, erasure: number) => void;

/** `rowsPerStep`: how many rows a step changes, about. */
export const createDetaching = (db: Connection, rowsPerStep = usualRowsPerStep) => {
  const erasing = createErasingReader(db);
  const begin = db.prepare('INSERT INTO erasing_contact (contact, erasure, through) VALUES (?, ?, ?)');
  const columns = `
    e.contact, e.erasure, x.account, x.erasedTime, x.verifiedOnly
    FROM erasing_contact e JOIN erasure x ON x.erasure = e.erasure`;
  const next = db.prepare<[], ErasingContact>(`SELECT ${columns} LIMIT 1`);
  const nextWithNames = db.prepare<[], ErasingContact>(`SELECT ${columns} WHERE e.hasNames LIMIT 1`);
  const withNamesOf = db.prepare<[number], ErasingContact>(
    `SELECT ${columns} WHERE e.hasNames AND e.erasure = ? LIMIT 1`,
  );
  const setNameless = db.prepare('UPDATE erasing_contact SET hasNames = 0 WHERE contact = ?');
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
  const nextClaims = db.prepare<[number], ClaimRow>(
    `SELECT claim, claimID, token, user FROM claim WHERE contact = ? LIMIT ${rowsPerStep}`,
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

  /** Takes away claims and requests of a contact, as many as make about `most` changed rows. Returns how many rows changed. */
  const takeNames = ({ contact, erasure, ...erased }: ErasingContact, most: number, eraseName: EraseName): number => {
    let rows = 0;
    const requests = nextRequests.all(contact);
    for (const { day, token, user, userUUID, requestUUID } of requests) {
      if (rows >= most) return rows;
      const isKey = token === tokenInKey;
      const name = isKey ? requestKeyName(user, requestUUID) : requestName(token, userUUID, requestUUID);
      eraseName(name, erased, erasure);
      dropRequest.run(day, requestUUID, token, user);
      rows += 2;
    }
    const claims = nextClaims.all(contact);
    for (const { claim, claimID, token, user } of claims) {
      if (rows >= most) return rows;
      // The claim decides what its user's links were.
      rows += detach(user);
      for (const name of [handleName(token, claimID), claimName(claimID)]) eraseName(name, erased, erasure);
      dropClaim.run(claim);
      rows += 3;
    }
    if (requests.length < rowsPerStep && claims.length < rowsPerStep) setNameless.run(contact);
    return rows + 1;
  };

  /** Takes away links of a contact, as many as make about `most` changed rows, and at last its row. Returns how many rows changed. */
  const takeLinks = ({ contact }: ErasingContact, most: number): number => {
    let rows = 0;
    while (rows < most) {
      const user = nextUser.get(contact);
      if (user === undefined) {
        end.run(contact);
        dropContact.run(contact);
        return rows + 2;
      }
      rows += detach(user);
    }
    return rows;
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

    /** Whether claims or requests still name a contact of this erasure. */
    hasNames: (erasure: number): boolean => withNamesOf.get(erasure) !== undefined,

    /** Takes away these claims and requests, unless they are more than a step takes. */
    takeFirstNames(erasure: number, eraseName: EraseName): void {
      let rows = 0;
      for (let found = withNamesOf.get(erasure); found && rows < rowsPerStep; found = withNamesOf.get(erasure)) {
        rows += takeNames(found, rowsPerStep - rows, eraseName);
      }
    },

    /** A step; answers whether there was anything to do. What erasures wait for that are not acknowledged yet comes first. */
    step(eraseName: EraseName): boolean {
      let rows = 0;
      while (rows < rowsPerStep) {
        const withNames = nextWithNames.get();
        const found = withNames ?? next.get();
        if (!found) break;
        rows += withNames ? takeNames(found, rowsPerStep - rows, eraseName) : takeLinks(found, rowsPerStep - rows);
      }
      return rows > 0;
    },
  };
};
export type Detaching = ReturnType<typeof createDetaching>;
