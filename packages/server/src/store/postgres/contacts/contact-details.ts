/** Reads contacts: one contact, one browser's claim by its handle, and pages of search results. */
import { claimsToRead, type Listing, linksToRead, tellLists } from '../../rules/contact-lists.ts';
import {
  createContactMatcher,
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

type ContactPage = { contacts: ContactRecord[]; next: number | null };

/** Reads a page of the claims of a group of merged contacts, beyond a number; null: only counts them. */
const listClaims = async (
  db: Connection,
  { account, group }: { account: number; group: readonly ContactRow[] },
  beyond: number | null = 0,
): Promise<Listing<ClaimDetail>> => {
  const contacts = group.map(({ contact }) => contact);
  const [count, claims] = await Promise.all([
    countClaims(db, contacts),
    beyond === null ? [] : claimsAfter(db, contacts, beyond, claimsToRead),
  ]);
  const users = claims.map(({ user }) => user);
  const [linkIDs, userUUIDs, tokens, nameOf] = await Promise.all([
    firstLinksOf(db, claims),
    userUUIDsOf(db, users),
    db.all<{ token: number; tokenID: string }>('SELECT token, "tokenID" FROM token WHERE token = ANY ($1::integer[])', [
      claims.map(({ token }) => token),
    ]),
    readNames(db, account),
  ]);
  const tokenIDs = new Map(tokens.map(({ token, tokenID }) => [token, tokenID]));
  const contactUUIDs = new Map(group.map(({ contact, contactUUID }) => [contact, contactUUID]));
  return {
    count,
    entries: claims.map((claim) => {
      const details = {
        ...claim,
        userUUID: userUUIDs.get(claim.user) as string,
        tokenID: tokenIDs.get(claim.token) as string,
      };
      const contactUUID = contactUUIDs.get(claim.contact) as string;
      return [claim.claim, toClaimDetail(details, { contactUUID, linkID: linkIDs.get(claim.claim) ?? '' }, nameOf)];
    }),
  };
};

const listLinks = async (
  db: Connection,
  group: readonly ContactRow[],
  beyond: number | null = 0,
): Promise<Listing<LinkDetail>> => {
  const contactUUIDs = new Map(group.map(({ contact, contactUUID }) => [contact, contactUUID]));
  const most = beyond === null ? 0 : linksToRead;
  const { links, count } = await linksAfter(db, [...contactUUIDs.keys()], beyond ?? 0, most);
  const users = links.map(({ user }) => user);
  const userUUIDs = await userUUIDsOf(db, users);
  return {
    count,
    entries: links.map(({ sequence, user, contact, time, verified, voided }) => [
      sequence,
      {
        linkID: String(sequence),
        userUUID: userUUIDs.get(user) as string,
        contactUUID: contactUUIDs.get(contact as number) as string,
        linkTime: time,
        verified,
        voided,
      },
    ]),
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
      const [group = []] = groups;
      const [views, tags, nameOf] = await Promise.all([
        viewsOf(db, groups),
        listCatalogue(db, account, 'tag'),
        readNames(db, account),
      ]);
      const [view] = views as [(typeof views)[number]];
      return {
        ...toContactRecord(row, view, nameOf),
        tags: toTagDetails(view, tags),
        attributes: [...view.attributes],
        ...tellLists({
          claims: include.includes('claim') ? await listClaims(db, { account, group }, beyond?.claim) : undefined,
          links: include.includes('link') ? await listLinks(db, group, beyond?.link) : undefined,
        }),
      };
    },

    /** Searches contacts. Without an address, `db` must have all contacts settled, so that pages miss none. */
    async searchContact(db: Snapshot, search: ContactSearch): Promise<ContactPage> {
      const { account, limit } = search;
      const isWanted = createContactMatcher(search);
      const nameOf = await readNames(db, account);
      const found: ContactRecord[] = [];
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
          if (found.length === limit) return { contacts: found, next: beyond };
          found.push(toContactRecord(row, view, nameOf));
          beyond = row.contact;
        }
        if (rows.length < contactsPerStep) return { contacts: found, next: null };
        beyond = (rows.at(-1) as ContactRow).contact;
      }
    },
  };
};
