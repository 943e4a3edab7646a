/** Reads contacts, their claims and links, as operations/contacts.ts requires. */
import { type ContactFeedReader, feedContacts } from '../../operations/contact-feed.ts';
import { isStale } from '../../operations/contact-index.ts';
import { searchContact } from '../../operations/contact-search.ts';
import { type ContactDetailReader, type ContactReader, getContact, namePeople } from '../../operations/contacts.ts';
import { claimsToRead, linksToRead } from '../../rules/contact-lists.ts';
import { maxStaleContacts } from '../../rules/contact-search.ts';
import type { ContactQuery, ContactSearch, RequestOf } from '../../store.ts';
import { readNames } from '../accounts/catalogues.ts';
import type { AccountConnection } from '../database/connection.ts';
import { runOperation } from '../transactions/operations.ts';
import type { Snapshot } from '../transactions/transaction.ts';
import { claimsAfter, countClaims, findClaim } from './claims.ts';
import type { ContactFinder } from './contact-finder.ts';
import { readRemainingContacts } from './contact-index.ts';
import { type ContactRow, readContacts } from './contact-rows.ts';
import { fieldsOf, rowsOf, viewsOf } from './contact-views.ts';
import { readLastSeen } from './last-seen.ts';
import { firstLinksOf, linksAfter, statementsForOwners } from './statements.ts';
import { userUUIDsOf } from './users.ts';

const createRowReader = (db: AccountConnection): ContactReader<ContactRow> => ({
  readRows: (contacts) => readContacts(db, contacts),
  readGroups: (rows) => rowsOf(db, rows),
  readViews: (groups, merges) => viewsOf(db, groups, merges),
  readNames: () => readNames(db, db.account),
  readLastSeen: (groups) => readLastSeen(db, groups),
});

const createDetailReader = (db: AccountConnection, contacts: ContactFinder): ContactDetailReader<ContactRow> => ({
  ...createRowReader(db),
  find: async (query) => contacts.answering(db, await contacts.byName(db, query)),
  fieldsOf,
  async findHandle(token, handle) {
    const claim = await findClaim(db, handle);
    if (!claim || claim.token !== token) throw await contacts.missingHandle(db, token, handle);
    return claim;
  },
  async listClaims(group, beyond) {
    const contactUUIDs = new Map(group.map(({ contact, contactUUID }) => [contact, contactUUID]));
    const numbers = [...contactUUIDs.keys()];
    const [count, claims] = await Promise.all([
      countClaims(db, numbers),
      beyond === null ? [] : claimsAfter(db, numbers, beyond, claimsToRead),
    ]);
    const users = claims.map(({ user }) => user);
    const [linkIDs, userUUIDs] = await Promise.all([firstLinksOf(db, claims), userUUIDsOf(db, users)]);
    return {
      count,
      claims: claims.map((claim) => ({
        ...claim,
        contactUUID: contactUUIDs.get(claim.contact) as string,
        userUUID: userUUIDs.get(claim.user) as string,
        linkID: linkIDs.get(claim.claim) ?? '',
      })),
    };
  },
  async listLinks(group, beyond) {
    const contactUUIDs = new Map(group.map(({ contact, contactUUID }) => [contact, contactUUID]));
    const limit = beyond === null ? 0 : linksToRead;
    const { links, count } = await linksAfter(db, [...contactUUIDs.keys()], beyond ?? 0, limit);
    const users = links.map(({ user }) => user);
    const [userUUIDs, ofUsers] = await Promise.all([userUUIDsOf(db, users), statementsForOwners(db, users)]);
    return {
      count,
      links: links.map((link) => ({
        ...link,
        contactUUID: contactUUIDs.get(link.contact as number) as string,
        userUUID: userUUIDs.get(link.user) as string,
        statements: ofUsers.get(link.user) ?? [],
      })),
    };
  },
});

/**
 * The maximum number of listed changes. Higher than `maxStaleContacts`, because a contact can be listed several times.
 */
const maxChanges = 4 * maxStaleContacts;

/** Returns the contacts that may differ from the index; undefined if there are many. */
const readStaleContacts = async (db: AccountConnection): Promise<number[] | undefined> => {
  const changes = await db.all<{ contact: number }>(
    `SELECT contact FROM contact_changed WHERE account = $1 LIMIT ${maxChanges + 1}`,
    [db.account],
  );
  if (changes.length > maxChanges) return undefined;
  const changed = [...new Set(changes.map(({ contact }) => contact))];
  const answering = await readRemainingContacts(db, changed);
  return [...new Set([...changed, ...answering.map(({ contact }) => contact)])];
};

const createFeedReader = (db: AccountConnection, account: number): ContactFeedReader<ContactRow> => ({
  ...createRowReader(db),
  readStale: () => readStaleContacts(db),
  async readTerms({ after, before }, terms, few) {
    const rows = await db.all<{ term: number; contacts: number[] }>(
      `SELECT term, jsonb_agg(contact) AS contacts FROM contact_term t
       WHERE account = $1 AND term = ANY ($6::bigint[]) AND ("createdTime", contact) > ($2::bigint, $3::bigint)
         AND ("createdTime", contact) < ($4::bigint, $5::bigint)
         ${few ? '' : `AND NOT ${isStale({ name: 'postgres' }, 't.contact')}`} GROUP BY term`,
      [account, after.key, after.contact, before.key, before.contact, terms],
    );
    return new Map(rows.map(({ term, contacts }) => [term, contacts]));
  },
});

export const createContactReads = (contacts: ContactFinder) => ({
  getContact: (db: AccountConnection, query: ContactQuery) =>
    runOperation(db, getContact(createDetailReader(db, contacts), query)),

  /**
   * For a search without a key, `db` must be a snapshot at 'all contacts settled', so that no page misses a contact.
   */
  searchContact(db: Snapshot, search: ContactSearch) {
    const { externalID, address } = search;
    const isByKey = externalID !== undefined || address !== undefined;
    const reader = {
      ...createRowReader(db),
      async findByKeys() {
        const rows = await Promise.all([
          ...(externalID === undefined ? [] : [contacts.byExternalID(db, externalID)]),
          ...(address === undefined ? [] : [contacts.byAddress(db, address)]),
        ]);
        return Promise.all(rows.map((row) => row && contacts.answering(db, row)));
      },
      async readRows(numbers: readonly number[]) {
        const settled = isByKey ? Infinity : await db.settled;
        const some = numbers.filter((contact) => contact <= settled);
        return readContacts(db, some);
      },
      readStale: () => readStaleContacts(db),
      // Views all candidates in one step, because each query takes a round trip.
      maxViews: () => Infinity,
    };
    return runOperation(db, searchContact(reader, search));
  },

  feedContacts: (db: AccountConnection, query: RequestOf<'feedContacts'>) =>
    runOperation(db, feedContacts(createFeedReader(db, query.account), query)),

  namePeople: (db: AccountConnection, request: RequestOf<'namePeople'>) =>
    runOperation(db, namePeople(createRowReader(db), request)),
});
