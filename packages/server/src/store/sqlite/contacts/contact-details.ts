/** Reads contacts: a contact's own record, what a browser token's handle shows, and pages of a search. */
import { claimsToRead, createFoundPage, type Listing, linksToRead, tellLists } from '../../rules/contact-lists.ts';
import {
  createContactMatcher,
  type NameOf,
  toClaimDetail,
  toContactDetail,
  toFoundContact,
  toHandle,
  toLinkDetail,
} from '../../rules/contact-presenter.ts';
import type { ClaimDetail, ContactDetail, ContactQuery, ContactSearch, LinkDetail } from '../../store.ts';
import { createCatalogueReader } from '../accounts/catalogues.ts';
import type { Connection } from '../database/connection.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';
import { createClaimReader } from './claims.ts';
import { createContactFinder } from './contact-finder.ts';
import type { ContactRow } from './contact-rows.ts';
import { createContactViews } from './contact-views.ts';
import { createStatementReader } from './statements.ts';

const contactsPerStep = 500;

export const createContactReader = (db: Connection) => {
  const contacts = createContactFinder(db);
  const { groupOf, viewOf } = createContactViews(db);
  const claims = createClaimReader(db);
  const statements = createStatementReader(db);
  const catalogues = createCatalogueReader(db);
  const nextContacts = db.prepare<[number, number, number], ContactRow>(
    'SELECT * FROM contact WHERE account = ? AND contact > ? AND mergedInto IS NULL ORDER BY contact LIMIT ?',
  );

  const naming =
    (account: number): NameOf =>
    (kind, id) =>
      catalogues.name(account, kind, id);

  /** Counts the entries of a group, and lists those with a number greater than `beyond`; null lists none. */
  const listClaims = (
    group: readonly ContactRow[],
    nameOf: NameOf,
    beyond: number | null = 0,
  ): Listing<ClaimDetail> => ({
    count: group.reduce((count, { contact }) => count + claims.countOf(contact), 0),
    entries: (beyond === null ? [] : group.flatMap(({ contact }) => claims.after(contact, beyond, claimsToRead)))
      .sort((a, b) => a.claim - b.claim)
      .slice(0, claimsToRead)
      .map((claim) => [claim.claim, toClaimDetail(claim, nameOf)]),
  });
  const listLinks = (group: readonly ContactRow[], beyond: number | null = 0): Listing<LinkDetail> => ({
    count: group.reduce((count, { contact }) => count + statements.countOf(contact), 0),
    entries: (beyond === null ? [] : group.flatMap(({ contact }) => statements.after(contact, beyond, linksToRead)))
      .sort((a, b) => a.sequence - b.sequence)
      .slice(0, linksToRead)
      .map((link) => [link.sequence, toLinkDetail(link)]),
  });

  /** A browser token's handle shows only what this browser said itself. */
  const byHandle = ({ account, token, contactUUID = '' }: ContactQuery): ContactDetail => {
    const claim = claims.find(account, contactUUID);
    if (!claim || claim.token !== token) throw contacts.missingHandle(account, token, contactUUID);
    return toHandle(claim, naming(account));
  };

  const byAddress = (account: number, address: string): ContactRow[] => {
    const found = contacts.byAddress(account, address);
    return found ? [contacts.answering(found.contact)] : [];
  };

  return {
    getContact(query: ContactQuery): ContactDetail {
      const { account, browser, include, beyond } = query;
      if (browser) return byHandle(query);
      const row = contacts.answering(contacts.byName(query).contact);
      const group = groupOf(row);
      const nameOf = naming(account);
      return {
        ...toContactDetail(row, viewOf(group), nameOf, catalogues.list(account, 'tag')),
        ...tellLists({
          claims: include.includes('claim') ? listClaims(group, nameOf, beyond?.claim) : undefined,
          links: include.includes('link') ? listLinks(group, beyond?.link) : undefined,
        }),
      };
    },

    *searchContact(search: ContactSearch): ChunkedRead<{ contacts: ContactDetail[]; next: number | null }> {
      const { account, address, limit } = search;
      const isWanted = createContactMatcher(search);
      const page = createFoundPage(limit);
      for (let beyond = search.beyond; ; ) {
        const rows =
          address === undefined ? nextContacts.all(account, beyond, contactsPerStep) : byAddress(account, address);
        for (const row of rows) {
          const view = viewOf(groupOf(row));
          if (!isWanted(row, view)) continue;
          if (page.isFull()) return { contacts: page.contacts, next: beyond };
          page.add(toFoundContact(row, view, naming(account)));
          beyond = row.contact;
        }
        if (rows.length < contactsPerStep) return { contacts: page.contacts, next: null };
        beyond = (rows.at(-1) as ContactRow).contact;
        yield;
      }
    },
  };
};
