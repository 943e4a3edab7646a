/**
 * Removes refused requests that name an erased person from the lists, some in each commit; until then reads leave them out. The
 * person's names are read from the rows that detaching.ts deletes afterwards.
 */
import { createPersonSearch, type ListedText, type PersonNames, personNames } from '../../rules/refused/names.ts';
import { statementColumns } from '../contacts/statements.ts';
import type { Connection } from '../database/connection.ts';

/** An erasure for which the lists of its account must still be searched. */
interface Searching {
  readonly erasure: number;
  readonly account: number;
  readonly verifiedOnly: 0 | 1;
  /** The last refused request that was listed when the erasure began. */
  readonly through: number;
}

interface Page {
  readonly of: number;
  readonly beyond: number;
  readonly most: number;
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
    WHERE hasNames AND erasure = @of AND contact > @beyond ORDER BY contact LIMIT @most`);
  // An external ID that is another contact's key names that contact, whatever a page said. The erased ones have no keys any more.
  const claims = db.prepare<
    Page,
    { at: number; claimID: string; userUUID: string; address: string | null; externalID: string | null }
  >(`
    SELECT c.claim AS at, c.claimID, u.userUUID, c.said ->> '$.fields.contactEmailaddress' AS address,
      iif(o.contact IS NULL, c.said ->> '$.fields.contactExternalID', NULL) AS externalID
    FROM (SELECT claim FROM claim WHERE contact = @of AND +claim > @beyond ORDER BY +claim LIMIT @most) some
    JOIN claim c ON c.claim = some.claim JOIN user u ON u.user = c.user
    LEFT JOIN contact o ON o.account = c.account AND o.contactExternalID > ''
      AND o.contactExternalID = c.said ->> '$.fields.contactExternalID'
    ORDER BY c.claim`);
  const links = db.prepare<Page, { at: number; verified: 0 | 1; userUUID: string }>(`
    SELECT s.sequence AS at, s.verified, u.userUUID FROM (
      SELECT ${statementColumns} WHERE s.contact = @of AND s.sequence > @beyond ORDER BY s.sequence LIMIT @most
    ) s JOIN user u ON u.user = s.user ORDER BY s.sequence`);
  const users = db.prepare<Page, { at: number; userUUID: string }>(`
    SELECT e.user AS at, u.userUUID FROM erasing_user e JOIN user u ON u.user = e.user
    WHERE e.erasure = @of AND e.user > @beyond ORDER BY e.user LIMIT @most`);

  function* ofContact(of: number, verifiedOnly: 0 | 1, most: number): Generator<PersonNames> {
    for (const some of pages((beyond) => claims.all({ of, beyond, most }))) {
      yield personNames({
        addresses: some.flatMap(({ address }) => address ?? []),
        claimedIDs: some.flatMap(({ externalID }) => externalID || []),
        handles: some.map(({ claimID }) => claimID),
        userUUIDs: verifiedOnly ? [] : some.map(({ userUUID }) => userUUID),
      });
    }
    for (const some of pages((beyond) => links.all({ of, beyond, most }))) {
      const left = some.filter(({ verified }) => verified || !verifiedOnly);
      yield personNames({ userUUIDs: left.map(({ userUUID }) => userUUID) });
    }
  }

  /** Yields the identifiers by which a request may name the person, from up to `most` rows at a time. */
  return function* ({ erasure: of, verifiedOnly }: Searching, most: number): Generator<PersonNames> {
    for (const some of pages((beyond) => contacts.all({ of, beyond, most }))) {
      yield personNames({
        addresses: some.flatMap(({ address }) => address ?? []),
        externalIDs: some.flatMap(({ externalID }) => externalID || []),
        contactUUIDs: some.map(({ contactUUID }) => contactUUID),
      });
      for (const { at } of some) yield* ofContact(at, verifiedOnly, most);
    }
    // Users come last: a user may be detached before the links that named this user are read.
    for (const some of pages((beyond) => users.all({ of, beyond, most }))) {
      yield personNames({ userUUIDs: some.map(({ userUUID }) => userUUID) });
    }
  };
};

const columns =
  'r.erasure, r.through, x.account, x.verifiedOnly FROM erasing_refused r JOIN erasure x ON x.erasure = r.erasure';
const rowsPerRead = 1_000;

/** Finds requests that are still listed only because their list has not been searched yet. */
export const createErasingRefusedReader = (db: Connection) => {
  const namesOf = createPersonReader(db);
  const all = db.prepare<[], Searching>(`SELECT ${columns}`);
  return {
    /** Returns those of some listed requests that name nobody who is being erased. */
    withoutErased<Row extends ListedText & { readonly refused: number; readonly account: number }>(
      rows: readonly Row[],
    ): readonly Row[] {
      return all.all().reduce((left, searching) => {
        const isMeant = ({ account, refused }: Row) => account === searching.account && refused <= searching.through;
        if (!left.some(isMeant)) return left;
        const person = createPersonSearch();
        for (const some of namesOf(searching, rowsPerRead)) person.add(some);
        return left.filter((row) => !isMeant(row) || !person.isNamedIn(row));
      }, rows);
    },
  };
};

export interface ListedBytes {
  readonly refused: number;
  readonly token: number;
  readonly bytes: number;
}

/** Amounts of work that take as long as changing one row. */
const charactersSearchedPerRow = 1024;
const bytesReadPerRow = 20 * 1024;
const bytesDeletedPerRow = 4 * 1024;
const namesReadPerRow = 4;
/** Costs beside those of the bytes, in rows. */
const costOfDeleting = 3;
const costOfList = 0.1;

/**
 * `takeOff` removes a request from its list, if it is still there. `rowsPerStep`: a step costs about as much as changing this many
 * rows.
 */
export const createErasingRefused = (db: Connection, takeOff: (row: ListedBytes) => void, rowsPerStep: number) => {
  const namesOf = createPersonReader(db);
  const hasAny = db
    .prepare<[number], number>(
      'SELECT 1 FROM token t JOIN refused_request r ON r.token = t.token WHERE t.account = ? LIMIT 1',
    )
    .pluck();
  const insert = db.prepare('INSERT INTO erasing_refused SELECT ?, max(refused) FROM refused_request');
  const next = db.prepare<[], Searching>(`SELECT ${columns} LIMIT 1`);
  const insertUser = db.prepare(`
    INSERT OR IGNORE INTO erasing_user SELECT e.erasure, s.user FROM (SELECT ${statementColumns} WHERE s.user = ?) s
    JOIN erasing_contact e ON e.contact = s.contact JOIN erasing_refused r ON r.erasure = e.erasure
    JOIN erasure x ON x.erasure = e.erasure WHERE s.verified OR NOT x.verifiedOnly`);
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
   * Removes all requests that name the person from their lists. Before each part of the search, yields the cost of that part, in
   * rows.
   */
  function* search(searching: Searching): Generator<number, void> {
    const person = createPersonSearch();
    for (const some of namesOf(searching, rowsPerStep)) {
      person.add(some);
      yield 1 + (some.addresses.length + some.handles.length + some.userUUIDs.length) / namesReadPerRow;
    }
    for (const token of tokens.all(searching.account)) {
      yield costOfList;
      for (const { refused, bytes } of listed.all(token, searching.through)) {
        yield bytes / bytesReadPerRow;
        const row = get.get(refused);
        if (!row) continue;
        const parts = person.search(row);
        let part = parts.next();
        for (; !part.done; part = parts.next()) yield part.value / charactersSearchedPerRow;
        if (!part.value) continue;
        yield costOfDeleting + bytes / bytesDeletedPerRow;
        takeOff(row);
      }
    }
    dropUsers.run(searching.erasure);
    drop.run(searching.erasure);
  }

  /** The current search. It starts again after a restart, and when another process has written. */
  let underWay: Generator<number, void> | undefined;

  return {
    /** Begins a search, unless all lists of the account are empty. Returns whether it began. */
    begin(erasure: number, account: number): boolean {
      const isNeeded = hasAny.get(account) !== undefined;
      if (isNeeded) insert.run(erasure);
      return isNeeded;
    },

    /** Adds a user who is about to be detached to the names that are searched for. Returns the number of changed rows. */
    noteUser: (user: number): number => (next.get() === undefined ? 0 : insertUser.run(user).changes),

    /** Continues the search. Returns its cost in rows: less than `rowsPerStep` when nothing is left to search. */
    step(): number {
      let rows = 0;
      while (rows < rowsPerStep) {
        const searching = underWay ? undefined : next.get();
        if (searching) underWay = search(searching);
        if (!underWay) break;
        const part = underWay.next();
        rows += part.done ? 1 : part.value;
        if (part.done) underWay = undefined;
      }
      return Math.floor(rows);
    },

    forget() {
      underWay = undefined;
    },
  };
};
