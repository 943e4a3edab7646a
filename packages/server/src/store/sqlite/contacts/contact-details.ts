/** Reads a contact's record, or what a handle shows of it. */
import { type ContactMerges, noContactMerges } from '../../../identity/merged-entries.ts';
import { listCatalogue, readEntryMerges } from '../../operations/catalogues.ts';
import { claimsToRead, type Listing, linksToRead, paginateLists } from '../../rules/contact-lists.ts';
import {
  type NameOf,
  toClaimDetail,
  toContactDetail,
  toHandle,
  toLinkDetail,
  toMergeDetails,
} from '../../rules/contact-presenter.ts';
import type { ClaimDetail, ContactDetail, ContactQuery, LinkDetail } from '../../store.ts';
import { createNameReader } from '../accounts/catalogues.ts';
import type { Connection } from '../database/connection.ts';
import { createOperationRunner } from '../transactions/operations.ts';
import { createClaimReader } from './claims.ts';
import { createContactFinder } from './contact-finder.ts';
import type { ContactRow } from './contact-rows.ts';
import { createContactSearch } from './contact-search.ts';
import { createContactViews } from './contact-views.ts';
import { createStatementReader } from './statements.ts';

export const createContactReader = (db: Connection) => {
  const contacts = createContactFinder(db);
  const { groupOf, viewOf, fieldsOf } = createContactViews(db);
  const claims = createClaimReader(db);
  const statements = createStatementReader(db);
  const runOperation = createOperationRunner(db);
  const namesOf = createNameReader(db);

  /** Counts a group's claims and lists those after `beyond`; null: none. */
  const listClaims = (
    group: readonly ContactRow[],
    nameOf: NameOf,
    merges: ContactMerges,
    beyond: number | null = 0,
  ): Listing<ClaimDetail> => ({
    count: group.reduce((count, { contact }) => count + claims.countOf(contact), 0),
    entries: (beyond === null ? [] : group.flatMap(({ contact }) => claims.after(contact, beyond, claimsToRead)))
      .sort((a, b) => a.claim - b.claim)
      .slice(0, claimsToRead)
      .map((claim) => [claim.claim, toClaimDetail(claim, nameOf, merges)]),
  });
  const listLinks = (group: readonly ContactRow[], beyond: number | null = 0): Listing<LinkDetail> => {
    const links = (
      beyond === null ? [] : group.flatMap(({ contact }) => statements.after(contact, beyond, linksToRead))
    )
      .sort((a, b) => a.sequence - b.sequence)
      .slice(0, linksToRead);
    const ofUsers = new Map(
      [...new Set(links.map(({ user }) => user))].map((user) => [user, statements.forOwners(user)]),
    );
    return {
      count: group.reduce((count, { contact }) => count + statements.countOf(contact), 0),
      entries: links.map((link) => [link.sequence, toLinkDetail(link, ofUsers.get(link.user) ?? [])]),
    };
  };

  /** A handle shows only what this browser sent itself. */
  const byHandle = ({ account, token, contactUUID = '' }: ContactQuery): ContactDetail => {
    const claim = claims.find(account, contactUUID);
    if (!claim || claim.token !== token) throw contacts.missingHandle(account, token, contactUUID);
    return toHandle(claim, namesOf(account), runOperation(readEntryMerges(account)));
  };

  return {
    getContact(query: ContactQuery): ContactDetail {
      const { account, browser, include, beyond } = query;
      if (browser) return byHandle(query);
      const row = contacts.followMerges(contacts.byName(query).contact);
      const group = groupOf(row);
      const nameOf = namesOf(account);
      const merges = query.asSent ? noContactMerges : runOperation(readEntryMerges(account));
      return {
        ...toContactDetail(row, viewOf(group, merges), nameOf, runOperation(listCatalogue({ account, kind: 'tag' }))),
        ...paginateLists({
          claims: include.includes('claim') ? listClaims(group, nameOf, merges, beyond?.claim) : undefined,
          links: include.includes('link') ? listLinks(group, beyond?.link) : undefined,
          merges: include.includes('merge') && !beyond ? toMergeDetails(group, fieldsOf, merges) : undefined,
        }),
      };
    },

    searchContact: createContactSearch(db),
  };
};
