/** Reads a contact, or a browser's claim by its handle. */
import type { ContactView } from '../../../identity/contact-view.ts';
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
import { readNames } from '../accounts/catalogues.ts';
import type { AccountConnection } from '../database/connection.ts';
import { runOperation } from '../transactions/operations.ts';
import { claimsAfter, countClaims, findClaim } from './claims.ts';
import type { ContactFinder } from './contact-finder.ts';
import { createContactSearch } from './contact-search.ts';
import { fieldsOf, rowsOf, viewsOf } from './contact-views.ts';
import { firstLinksOf, linksAfter, statementsForOwners } from './statements.ts';
import { userUUIDsOf } from './users.ts';

/** The contactUUIDs of a group of merged contacts, by number. */
type Group = ReadonlyMap<number, string>;

/** Reads a page of a group's claims after a number. If it is null, only counts them. */
const listClaims = async (
  db: AccountConnection,
  group: Group,
  nameOf: NameOf,
  merges: ContactMerges,
  beyond: number | null = 0,
): Promise<Listing<ClaimDetail>> => {
  const contacts = [...group.keys()];
  const [count, claims] = await Promise.all([
    countClaims(db, contacts),
    beyond === null ? [] : claimsAfter(db, contacts, beyond, claimsToRead),
  ]);
  const users = claims.map(({ user }) => user);
  const [linkIDs, userUUIDs] = await Promise.all([firstLinksOf(db, claims), userUUIDsOf(db, users)]);
  return {
    count,
    entries: claims.map((claim) => {
      const contactUUID = group.get(claim.contact) as string;
      const userUUID = userUUIDs.get(claim.user) as string;
      const linkID = linkIDs.get(claim.claim) ?? '';
      return [claim.claim, toClaimDetail({ ...claim, contactUUID, userUUID, linkID }, nameOf, merges)];
    }),
  };
};

const listLinks = async (
  db: AccountConnection,
  group: Group,
  beyond: number | null = 0,
): Promise<Listing<LinkDetail>> => {
  const limit = beyond === null ? 0 : linksToRead;
  const { links, count } = await linksAfter(db, [...group.keys()], beyond ?? 0, limit);
  const users = links.map(({ user }) => user);
  const [userUUIDs, ofUsers] = await Promise.all([userUUIDsOf(db, users), statementsForOwners(db, users)]);
  return {
    count,
    entries: links.map((link) => {
      const contactUUID = group.get(link.contact as number) as string;
      const userUUID = userUUIDs.get(link.user) as string;
      return [link.sequence, toLinkDetail({ ...link, contactUUID, userUUID }, ofUsers.get(link.user) ?? [])];
    }),
  };
};

export const createContactReader = (contacts: ContactFinder) => {
  /** Returns what a browser token may read with a handle: only the values that the token sent itself. */
  const byHandle = async (
    db: AccountConnection,
    { account, token, contactUUID = '' }: ContactQuery,
  ): Promise<ContactDetail> => {
    const claim = await findClaim(db, contactUUID);
    if (!claim || claim.token !== token) throw await contacts.missingHandle(db, token, contactUUID);
    return toHandle(claim, await readNames(db, account), await runOperation(db, readEntryMerges(account)));
  };

  return {
    async getContact(db: AccountConnection, query: ContactQuery): Promise<ContactDetail> {
      const { account, include, beyond } = query;
      if (query.browser) return byHandle(db, query);
      const row = await contacts.answering(db, await contacts.byName(db, query));
      const groups = await rowsOf(db, [row]);
      const group = new Map(groups.flat().map(({ contact, contactUUID }) => [contact, contactUUID]));
      const merges = query.asSent ? noContactMerges : await runOperation(db, readEntryMerges(account));
      const [[view], tags, nameOf] = await Promise.all([
        viewsOf(db, groups, merges),
        runOperation(db, listCatalogue({ account, kind: 'tag' })),
        readNames(db, account),
      ]);
      return {
        ...toContactDetail(row, view as ContactView, nameOf, tags),
        ...paginateLists({
          claims: include.includes('claim') ? await listClaims(db, group, nameOf, merges, beyond?.claim) : undefined,
          links: include.includes('link') ? await listLinks(db, group, beyond?.link) : undefined,
          merges: include.includes('merge') && !beyond ? toMergeDetails(groups.flat(), fieldsOf, merges) : undefined,
        }),
      };
    },

    searchContact: createContactSearch(contacts),
  };
};
