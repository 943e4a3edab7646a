/** Reads contacts: a contact's own record, what a browser token's handle shows, and pages of a search. */
import type { ContactView } from '../../../identity/contact-view.ts';
import { claimsToRead, type Listing, linksToRead, tellLists } from '../../rules/contact-lists.ts';
import {
  createContactMatcher,
  type NameOf,
  toClaimDetail,
  toContactRecord,
  toHandle,
  toTagDetails,
} from '../../rules/contact-presenter.ts';
import type {
  ClaimDetail,
  ContactDetail,
  ContactQuery,
  ContactRecord,
  ContactSearch,
  LinkDetail,
} from '../../store.ts';
import { createCatalogueReader } from '../accounts/catalogues.ts';
import type { Connection } from '../database/connection.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';
import { type ClaimRow, createClaimReader } from './claims.ts';
import { createContactFinder } from './contact-finder.ts';
import type { ContactRow } from './contact-rows.ts';
import { createContactViews } from './contact-views.ts';
import { createStatementReader, type StatementRow } from './statements.ts';

const contactsPerStep = 500;

export const createContactReader = (db: Connection) => {
  const contacts = createContactFinder(db);
  const { groupOf, viewOf } = createContactViews(db);
  const claims = createClaimReader(db);
  const statements = createStatementReader(db);
  const catalogues = createCatalogueReader(db);
  const userUUID = db.prepare<[number], string>('SELECT userUUID FROM user WHERE user = ?').pluck();
  const nextContacts = db.prepare<[number, number, number], ContactRow>(
    'SELECT * FROM contact WHERE account = ? AND contact > ? AND mergedInto IS NULL ORDER BY contact LIMIT ?',
  );

  const naming =
    (account: number): NameOf =>
    (kind, id) =>
      catalogues.name(account, kind, id);

  const record = (row: ContactRow, view: ContactView): ContactRecord => toContactRecord(row, view, naming(row.account));

  const claimDetail = (claim: ClaimRow): ClaimDetail => {
    const made = statements.firstOfClaim(claim.claim);
    const { contactUUID } = contacts.get(claim.contact) as ContactRow;
    return toClaimDetail(claim, { contactUUID, linkID: made === null ? '' : String(made) }, naming(claim.account));
  };

  const linkDetail = ({ sequence, user, contact, time, verified, voided }: StatementRow): LinkDetail => ({
    linkID: String(sequence),
    userUUID: userUUID.get(user) as string,
    contactUUID: (contacts.get(contact as number) as ContactRow).contactUUID,
    linkTime: time,
    verified,
    voided,
  });

  /** Counts the entries of a group, and lists those with a number greater than `beyond`; null lists none. */
  const listClaims = (group: readonly ContactRow[], beyond: number | null = 0): Listing<ClaimDetail> => ({
    count: group.reduce((count, { contact }) => count + claims.countOf(contact), 0),
    entries: (beyond === null ? [] : group.flatMap(({ contact }) => claims.after(contact, beyond, claimsToRead)))
      .sort((a, b) => a.claim - b.claim)
      .slice(0, claimsToRead)
      .map((claim) => [claim.claim, claimDetail(claim)]),
  });
  const listLinks = (group: readonly ContactRow[], beyond: number | null = 0): Listing<LinkDetail> => ({
    count: group.reduce((count, { contact }) => count + statements.countOf(contact), 0),
    entries: (beyond === null ? [] : group.flatMap(({ contact }) => statements.after(contact, beyond, linksToRead)))
      .sort((a, b) => a.sequence - b.sequence)
      .slice(0, linksToRead)
      .map((link) => [link.sequence, linkDetail(link)]),
  });

  /** A browser token's handle shows only what this browser said itself. */
  const byHandle = ({ account, token, contactUUID = '' }: ContactQuery): ContactDetail => {
    const claim = claims.find(account, contactUUID);
    if (!claim || claim.token !== token) throw contacts.missingHandle(account, token, contactUUID);
    return toHandle(claim, naming(account));
  };

  return {
    getContact(query: ContactQuery): ContactDetail {
      if (query.browser) return byHandle(query);
      const row = contacts.answering(contacts.byName(query));
      const group = groupOf(row);
      const view = viewOf(group);
      return {
        ...record(row, view),
        tags: toTagDetails(view, catalogues.list(query.account, 'tag')),
        attributes: [...view.attributes],
        ...tellLists({
          claims: query.include.includes('claim') ? listClaims(group, query.beyond?.claim) : undefined,
          links: query.include.includes('link') ? listLinks(group, query.beyond?.link) : undefined,
        }),
      };
    },

    *searchContact(search: ContactSearch): ChunkedRead<{ contacts: ContactRecord[]; next: number | null }> {
      const { account, address, limit } = search;
      const isWanted = createContactMatcher(search);
      if (address !== undefined) {
        const found = contacts.byAddress(account, address);
        if (!found) return { contacts: [], next: null };
        const row = contacts.answering(found);
        const view = viewOf(groupOf(row));
        return { contacts: isWanted(row, view) ? [record(row, view)] : [], next: null };
      }
      const found: ContactRecord[] = [];
      for (let beyond = search.beyond; ; ) {
        const rows = nextContacts.all(account, beyond, contactsPerStep);
        for (const row of rows) {
          const view = viewOf(groupOf(row));
          if (!isWanted(row, view)) continue;
          if (found.length === limit) return { contacts: found, next: beyond };
          found.push(record(row, view));
          beyond = row.contact;
        }
        if (rows.length < contactsPerStep) return { contacts: found, next: null };
        beyond = (rows.at(-1) as ContactRow).contact;
        yield;
      }
    },
  };
};
