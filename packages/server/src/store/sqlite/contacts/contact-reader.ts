/** Reads contacts, their index, claims and links, as operations/contacts.ts requires. */
import { type ContactFeedReader, feedContacts } from '../../operations/contact-feed.ts';
import { type ContactSearchReader, searchContact } from '../../operations/contact-search.ts';
import { type ContactDetailReader, type ContactReader, getContact, namePeople } from '../../operations/contacts.ts';
import { claimsToRead, linksToRead } from '../../rules/contact-lists.ts';
import { maxStaleContacts } from '../../rules/contact-search.ts';
import type {
  ContactDetail,
  ContactFeedPage,
  ContactQuery,
  ContactSearch,
  FoundContacts,
  RequestOf,
} from '../../store.ts';
import { createNameReader } from '../accounts/catalogues.ts';
import type { Connection } from '../database/connection.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';
import { createChunkedRunner, createOperationRunner } from '../transactions/operations.ts';
import { createClaimReader } from './claims.ts';
import { createContactFinder } from './contact-finder.ts';
import type { ContactRow } from './contact-rows.ts';
import { createContactViews } from './contact-views.ts';
import { createLastSeen } from './last-seen.ts';
import { createStatementReader } from './statements.ts';

/** Each function takes an account and returns its reader. */
type ReaderOf<Reader> = (account: number) => Reader;

const createRowReader = (db: Connection): ReaderOf<ContactReader<ContactRow>> => {
  const { groupsOf, viewsOf } = createContactViews(db);
  const lastSeenOf = createLastSeen(db);
  const namesOf = createNameReader(db);
  // Excludes erased contacts, which are merged into themselves.
  const rowsOf = db.prepare<[string, number], ContactRow>(`
    SELECT c.* FROM json_each(?) given CROSS JOIN contact c ON c.contact = given.value
    WHERE c.account = ? AND c.mergedInto IS NOT c.contact`);
  return (account) => ({
    readRows: (contacts) => rowsOf.all(JSON.stringify(contacts), account),
    readGroups: groupsOf,
    readViews: viewsOf,
    readNames: () => namesOf(account),
    readLastSeen: (groups) => groups.map(lastSeenOf),
  });
};

/**
 * Returns a function that lists the account's changed contacts, with merges followed; undefined if there are more than
 * `maxStaleContacts` in total.
 */
const createStaleReader = (db: Connection) => {
  const { followMerges } = createContactFinder(db);
  const count = db
    .prepare<[], number>(`SELECT count(*) FROM (SELECT 1 FROM contact_changed LIMIT ${maxStaleContacts + 1})`)
    .pluck();
  const changed = db
    .prepare<[number], [contact: number, mergedInto: number | null]>(`
      SELECT c.contact, c.mergedInto FROM contact_changed d CROSS JOIN contact c ON c.contact = d.contact
      WHERE c.account = ? AND c.mergedInto IS NOT c.contact`)
    .raw();
  return (account: number): number[] | undefined => {
    if ((count.get() as number) > maxStaleContacts) return undefined;
    const both = changed
      .all(account)
      .flatMap(([contact, mergedInto]) => (mergedInto === null ? [contact] : [contact, followMerges(contact).contact]));
    return [...new Set(both)];
  };
};

const createSearchReader = (db: Connection): ReaderOf<ContactSearchReader<ContactRow>> => {
  const rowReaderOf = createRowReader(db);
  const { byExternalID, byAddress, followMerges } = createContactFinder(db);
  const readStale = createStaleReader(db);
  return (account) => ({
    ...rowReaderOf(account),
    findByKeys: ({ externalID, address }) =>
      [
        ...(externalID === undefined ? [] : [byExternalID(account, externalID)]),
        ...(address === undefined ? [] : [byAddress(account, address)]),
      ].map((row) => row && followMerges(row.contact)),
    readStale: () => readStale(account),
    maxViews: (limit) => limit + 1,
  });
};

const createFeedReader = (db: Connection): ReaderOf<ContactFeedReader<ContactRow>> => {
  const rowReaderOf = createRowReader(db);
  const readStale = createStaleReader(db);
  const withTerm = db
    .prepare<[account: number, term: number, ...range: number[]], number>(`
      SELECT contact FROM contact_term
      WHERE account = ? AND term = ? AND (createdTime, contact) > (?, ?) AND (createdTime, contact) < (?, ?)`)
    .pluck();
  return (account) => ({
    ...rowReaderOf(account),
    readStale: () => readStale(account),
    readTerms: ({ after, before }, terms) => {
      const range = [after.key, after.contact, before.key, before.contact];
      return new Map(terms.map((term) => [term, withTerm.all(account, term, ...range)]));
    },
  });
};

const createDetailReader = (db: Connection): ReaderOf<ContactDetailReader<ContactRow>> => {
  const rowReaderOf = createRowReader(db);
  const contacts = createContactFinder(db);
  const { fieldsOf } = createContactViews(db);
  const claims = createClaimReader(db);
  const statements = createStatementReader(db);
  return (account) => ({
    ...rowReaderOf(account),
    find: (query) => contacts.followMerges(contacts.byName(query).contact),
    fieldsOf,
    findHandle(token, handle) {
      const claim = claims.find(account, handle);
      if (!claim || claim.token !== token) throw contacts.missingHandle(account, token, handle);
      return claim;
    },
    listClaims: (group, beyond) => ({
      count: group.reduce((count, { contact }) => count + claims.countOf(contact), 0),
      claims: (beyond === null ? [] : group.flatMap(({ contact }) => claims.after(contact, beyond, claimsToRead)))
        .sort((a, b) => a.claim - b.claim)
        .slice(0, claimsToRead),
    }),
    listLinks(group, beyond) {
      const links = (
        beyond === null ? [] : group.flatMap(({ contact }) => statements.after(contact, beyond, linksToRead))
      )
        .sort((a, b) => a.sequence - b.sequence)
        .slice(0, linksToRead);
      const users = [...new Set(links.map(({ user }) => user))];
      const ofUsers = new Map(users.map((user) => [user, statements.forOwners(user)]));
      return {
        count: group.reduce((count, { contact }) => count + statements.countOf(contact), 0),
        links: links.map((link) => ({ ...link, statements: ofUsers.get(link.user) ?? [] })),
      };
    },
  });
};

export const createContactSearch = (db: Connection): ((search: ContactSearch) => ChunkedRead<FoundContacts>) => {
  const runInSteps = createChunkedRunner(db);
  const readerOf = createSearchReader(db);
  return (search) => runInSteps(searchContact(readerOf(search.account), search));
};

export const createContactFeed = (
  db: Connection,
): ((query: RequestOf<'feedContacts'>) => ChunkedRead<ContactFeedPage>) => {
  const runInSteps = createChunkedRunner(db);
  const readerOf = createFeedReader(db);
  return (query) => runInSteps(feedContacts(readerOf(query.account), query));
};

export const createContactReads = (db: Connection) => {
  const runOperation = createOperationRunner(db);
  const detailReaderOf = createDetailReader(db);
  const rowReaderOf = createRowReader(db);
  return {
    getContact: (query: ContactQuery): ContactDetail => runOperation(getContact(detailReaderOf(query.account), query)),
    namePeople: (request: RequestOf<'namePeople'>) => runOperation(namePeople(rowReaderOf(request.account), request)),
    searchContact: createContactSearch(db),
    feedContacts: createContactFeed(db),
  };
};
