/**
 * Removes refused requests that name an erased person, a few per commit. Until they are removed, reads omit them. The
 * person's names are read from the rows that detaching.ts deletes afterwards.
 */
import type { StatementRow } from '../../rules/links.ts';
import { createPersonSearch, type ListedText, type PersonNames, personNames } from '../../rules/refused/names.ts';
import { decideMarks, type Marks, statementColumns } from '../contacts/statements.ts';
import type { Connection } from '../database/connection.ts';

/** An erasure whose account's lists must still be searched. */
interface PendingSearch {
  readonly erasure: number;
  readonly account: number;
  readonly verifiedOnly: 0 | 1;
  /** The last request that was listed when the erasure started. */
  readonly through: number;
}

interface Page {
  readonly of: number;
  readonly beyond: number;
  readonly limit: number;
}

function* pages<Row extends { readonly at: number }>(read: (beyond: number) => Row[]): Generator<Row[]> {
  for (let rows = read(-1); rows.length > 0; rows = read((rows.at(-1) as Row).at)) yield rows;
}

const createPersonReader = (db: Connection) => {
  const contacts = db.prepare<
    Page,
    { at: number; contactUUID: string; address: string | null; externalID: string | null }
  >(`
    SELECT contact AS at, contactUUID, contactEmailaddress AS address, contactExternalID AS externalID FROM erasing_contact
    WHERE hasNames AND erasure = @of AND contact > @beyond ORDER BY contact LIMIT @limit`);
  // Excludes an external ID that is another contact's key, because it identifies that contact. Erased contacts no
  // longer have keys.
  const claims = db.prepare<
    Page,
    { at: number; claimID: string; userUUID: string; address: string | null; externalID: string | null }
  >(`
    SELECT c.claim AS at, c.claimID, u.userUUID, c.said ->> '$.fields.contactEmailaddress' AS address,
      iif(o.contact IS NULL, c.said ->> '$.fields.contactExternalID', NULL) AS externalID
    FROM (SELECT claim FROM claim WHERE contact = @of AND +claim > @beyond ORDER BY +claim LIMIT @limit) some
    JOIN claim c ON c.claim = some.claim JOIN user u ON u.user = c.user
    LEFT JOIN contact o ON o.account = c.account AND o.contactExternalID > ''
      AND o.contactExternalID = c.said ->> '$.fields.contactExternalID'
    ORDER BY c.claim`);
  const links = db.prepare<Page, Marks & { at: number; userUUID: string }>(`
    SELECT s.sequence AS at, s.verified, s.voided, s.claimAccepted, s.claimVoided, u.userUUID FROM (
      SELECT ${statementColumns} WHERE s.contact = @of AND s.sequence > @beyond ORDER BY s.sequence LIMIT @limit
    ) s JOIN user u ON u.user = s.user ORDER BY s.sequence`);
  const users = db.prepare<Page, { at: number; userUUID: string }>(`
    SELECT e.user AS at, u.userUUID FROM erasing_user e JOIN user u ON u.user = e.user
    WHERE e.erasure = @of AND e.user > @beyond ORDER BY e.user LIMIT @limit`);

  function* ofContact(of: number, verifiedOnly: 0 | 1, limit: number): Generator<PersonNames> {
    for (const some of pages((beyond) => claims.all({ of, beyond, limit }))) {
      yield personNames({
        addresses: some.flatMap(({ address }) => address ?? []),
        claimedIDs: some.flatMap(({ externalID }) => externalID || []),
        handles: some.map(({ claimID }) => claimID),
        userUUIDs: verifiedOnly ? [] : some.map(({ userUUID }) => userUUID),
      });
    }
    for (const some of pages((beyond) => links.all({ of, beyond, limit }))) {
      const left = some.filter((link) => !verifiedOnly || decideMarks(link).verified);
      yield personNames({ userUUIDs: left.map(({ userUUID }) => userUUID) });
    }
  }

  /** Yields the person's names, from up to `limit` rows at a time. */
  return function* ({ erasure: of, verifiedOnly }: PendingSearch, limit: number): Generator<PersonNames> {
    for (const some of pages((beyond) => contacts.all({ of, beyond, limit }))) {
      yield personNames({
        addresses: some.flatMap(({ address }) => address ?? []),
        externalIDs: some.flatMap(({ externalID }) => externalID || []),
        contactUUIDs: some.map(({ contactUUID }) => contactUUID),
      });
      for (const { at } of some) yield* ofContact(at, verifiedOnly, limit);
    }
    // Reads users last, because a user may be detached before its links are read.
    for (const some of pages((beyond) => users.all({ of, beyond, limit }))) {
      yield personNames({ userUUIDs: some.map(({ userUUID }) => userUUID) });
    }
  };
};

const columns =
  'r.erasure, r.through, x.account, x.verifiedOnly FROM erasing_refused r JOIN erasure x ON x.erasure = r.erasure';
const rowsPerRead = 1_000;

/** Omits requests that name an erased person but have not been removed yet. */
export const createErasingRefusedReader = (db: Connection) => {
  const namesOf = createPersonReader(db);
  const all = db.prepare<[], PendingSearch>(`SELECT ${columns}`);
  return {
    /** Omits requests that name a person who is being erased. */
    withoutErased<Row extends ListedText & { readonly refused: number; readonly account: number }>(
      rows: readonly Row[],
    ): readonly Row[] {
      return all.all().reduce((left, pending) => {
        const isAffected = ({ account, refused }: Row) => account === pending.account && refused <= pending.through;
        if (!left.some(isAffected)) return left;
        const person = createPersonSearch();
        for (const some of namesOf(pending, rowsPerRead)) person.add(some);
        return left.filter((row) => !isAffected(row) || !person.isNamedIn(row));
      }, rows);
    },
  };
};

export interface ListedBytes {
  readonly refused: number;
  readonly token: number;
  readonly bytes: number;
}

/** Processing each of these amounts takes about as long as changing one row. */
const charactersSearchedPerRow = 1024;
const bytesReadPerRow = 20 * 1024;
const bytesDeletedPerRow = 4 * 1024;
const namesReadPerRow = 4;
/** The fixed costs of a step's parts, in rows. */
const costOfDeleting = 3;
const costOfList = 0.1;

/**
 * `removeFromList` removes a request if it is still listed. A step costs about as much as changing `rowsPerStep` rows.
 */
export const createErasingRefused = (
  db: Connection,
  removeFromList: (row: ListedBytes) => void,
  rowsPerStep: number,
) => {
  const namesOf = createPersonReader(db);
  const hasAny = db
    .prepare<[number], number>(
      'SELECT 1 FROM token t JOIN refused_request r ON r.token = t.token WHERE t.account = ? LIMIT 1',
    )
    .pluck();
  const insert = db.prepare('INSERT INTO erasing_refused SELECT ?, max(refused) FROM refused_request');
  const next = db.prepare<[], PendingSearch>(`SELECT ${columns} LIMIT 1`);
  const insertUser = db.prepare(`
    INSERT OR IGNORE INTO erasing_user SELECT e.erasure, @user FROM erasing_contact e
    JOIN erasing_refused r ON r.erasure = e.erasure JOIN erasure x ON x.erasure = e.erasure
    WHERE e.contact = @contact AND (@verified OR NOT x.verifiedOnly)`);
  const dropUsers = db.prepare('DELETE FROM erasing_user WHERE erasure = ?');
  const drop = db.prepare('DELETE FROM erasing_refused WHERE erasure = ?');
  const tokens = db.prepare<[number], number>('SELECT token FROM token WHERE account = ?').pluck();
  const listed = db.prepare<[number, number], { refused: number; bytes: number }>(
    'SELECT refused, bytes FROM refused_request WHERE token = ? AND refused <= ?',
  );
  const get = db.prepare<[number], ListedBytes & ListedText>(
    'SELECT refused, token, bytes, input, message, address FROM refused_request WHERE refused = ?',
  );

  /**
   * Removes all requests that name the person. Yields the cost of each part of the search, in rows, before running it.
   */
  function* search(pending: PendingSearch): Generator<number, void> {
    const person = createPersonSearch();
    for (const some of namesOf(pending, rowsPerStep)) {
      person.add(some);
      yield 1 + (some.addresses.length + some.handles.length + some.userUUIDs.length) / namesReadPerRow;
    }
    for (const token of tokens.all(pending.account)) {
      yield costOfList;
      for (const { refused, bytes } of listed.all(token, pending.through)) {
        yield bytes / bytesReadPerRow;
        const row = get.get(refused);
        if (!row) continue;
        const parts = person.search(row);
        let part = parts.next();
        for (; !part.done; part = parts.next()) yield part.value / charactersSearchedPerRow;
        if (!part.value) continue;
        yield costOfDeleting + bytes / bytesDeletedPerRow;
        removeFromList(row);
      }
    }
    dropUsers.run(pending.erasure);
    drop.run(pending.erasure);
  }

  /** The current search. It restarts when the server restarts or another process writes. */
  let current: Generator<number, void> | undefined;

  return {
    /** Starts a search unless all of the account's lists are empty. Returns whether it started. */
    begin(erasure: number, account: number): boolean {
      const isNeeded = hasAny.get(account) !== undefined;
      if (isNeeded) insert.run(erasure);
      return isNeeded;
    },

    /** Adds the user whose links are about to be detached to the search's names. Returns the number of changed rows. */
    addUserOf: (links: readonly Pick<StatementRow, 'user' | 'contact' | 'verified'>[]): number => {
      if (next.get() === undefined) return 0;
      return links.reduce(
        (rows, { user, contact, verified }) =>
          rows + insertUser.run({ user, contact, verified: Number(verified) }).changes,
        0,
      );
    },

    /** Continues the search. Returns its cost in rows; less than `rowsPerStep` if nothing is left to search. */
    step(): number {
      let rows = 0;
      while (rows < rowsPerStep) {
        const pending = current ? undefined : next.get();
        if (pending) current = search(pending);
        if (!current) break;
        const part = current.next();
        rows += part.done ? 1 : part.value;
        if (part.done) current = undefined;
      }
      return Math.floor(rows);
    },

    forget() {
      current = undefined;
    },
  };
};
