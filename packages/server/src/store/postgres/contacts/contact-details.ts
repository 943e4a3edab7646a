/** Reads contacts: one contact, one browser's claim by its handle, and pages of search results. */
import type { ContactView } from '../../../identity/contact-view.ts';
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
import { listCatalogue, readNames } from '../accounts/catalogues.ts';
import type { Connection } from '../database/connection.ts';
import type { Snapshot } from '../transactions/transaction.ts';
import { claimsAfter, countClaims, findClaim } from './claims.ts';
import type { ContactFinder } from './contact-finder.ts';
import type { ContactRow } from './contact-rows.ts';
import { rowsOf, viewsOf } from './contact-views.ts';
import { firstLinksOf, linksAfter } from './statements.ts';
import { userUUIDsOf } from './users.ts';

const contactsPerStep = 500;

type ContactPage = { contacts: ContactDetail[]; next: number | null };

/** The contactUUIDs of a group of merged contacts, by their numbers. */
type Group = ReadonlyMap<number, string>;

/** Reads a page of the claims of a group, beyond a number; null: only counts them. */
const listClaims = async (
  db: Connection,
  group: Group,
  nameOf: NameOf,
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
      return [claim.claim, toClaimDetail({ ...claim, contactUUID, userUUID, linkID }, nameOf)];
    }),
  };
};

const listLinks = async (db: Connection, group: Group, beyond: number | null = 0): Promise<Listing<LinkDetail>> => {
  const most = beyond === null ? 0 : linksToRead;
  const { links, count } = await linksAfter(db, [...group.keys()], beyond ?? 0, most);
  const users = links.map(({ user }) => user);
  const userUUIDs = await userUUIDsOf(db, users);
  return {
    count,
    entries: links.map((link) => {
      const contactUUID = group.get(link.contact as number) as string;
      return [link.sequence, toLinkDetail({ ...link, contactUUID, userUUID: userUUIDs.get(link.user) as string })];
    }),
  };
};

export const createContactReader = (contacts: ContactFinder) => {
  /** Returns what a browser token sees by a handle: what this browser itself sent. */
  const byHandle = async (
    db: Connection,
    { account, token, contactUUID = '' }: ContactQuery,
  ): Promise<ContactDetail> => {
    const claim = await findClaim(db, account, contactUUID);
    if (!claim || claim.token !== token) throw await contacts.missingHandle(db, account, token, contactUUID);
    return toHandle(claim, await readNames(db, account));
  };

  const byAddress = async (db: Connection, { account, address = '' }: ContactSearch): Promise<ContactRow[]> => {
    const found = await contacts.byAddress(db, account, address);
    return found ? [await contacts.answering(db, found)] : [];
  };

  return {
    async getContact(db: Connection, query: ContactQuery): Promise<ContactDetail> {
      const { account, include, beyond } = query;
      if (query.browser) return byHandle(db, query);
      const row = await contacts.answering(db, await contacts.byName(db, query));
      const groups = await rowsOf(db, [row]);
      const group = new Map(groups.flat().map(({ contact, contactUUID }) => [contact, contactUUID]));
      const [[view], tags, nameOf] = await Promise.all([
        viewsOf(db, groups),
        listCatalogue(db, account, 'tag'),
        readNames(db, account),
      ]);
      return {
        ...toContactDetail(row, view as ContactView, nameOf, tags),
        ...tellLists({
          claims: include.includes('claim') ? await listClaims(db, group, nameOf, beyond?.claim) : undefined,
          links: include.includes('link') ? await listLinks(db, group, beyond?.link) : undefined,
        }),
      };
    },

    /** Searches contacts. Without an address, `db` must have all contacts settled, so that pages miss none. */
    async searchContact(db: Snapshot, search: ContactSearch): Promise<ContactPage> {
      const { account, limit } = search;
      const isWanted = createContactMatcher(search);
      const nameOf = await readNames(db, account);
      const page = createFoundPage(limit);
      for (let beyond = search.beyond; ; ) {
        const rows =
          search.address === undefined
            ? await db.all<ContactRow>(
                `SELECT * FROM contact WHERE account = $1 AND contact > $2 AND contact <= $3 AND "mergedInto" IS NULL
                 ORDER BY contact LIMIT ${contactsPerStep}`,
                [account, beyond, await db.settled],
              )
            : await byAddress(db, search);
        const views = await viewsOf(db, await rowsOf(db, rows));
        for (const [nth, view] of views.entries()) {
          const row = rows[nth] as ContactRow;
          if (!isWanted(row, view)) continue;
          if (page.isFull()) return { contacts: page.contacts, next: beyond };
          page.add(toFoundContact(row, view, nameOf));
          beyond = row.contact;
        }
        if (rows.length < contactsPerStep) return { contacts: page.contacts, next: null };
        beyond = (rows.at(-1) as ContactRow).contact;
      }
    },
  };
};
