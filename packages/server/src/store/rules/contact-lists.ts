/** Splits a contact's claims and links, and the contacts that a search finds, into pages, by number and by size. */
import { limits } from '@firsthand/contract/limits';
import type { ClaimDetail, ContactDetail, FoundContact, LinkDetail, MergeDetail } from '../store.ts';

/** The length of the JSON of the claims or contacts on one page, in UTF-16 code units; a single one may take 200 KB or more. */
const maxCharacters = 1024 * 1024;

/** The part of a list that a driver reads for one page: one entry more than fits, if there is one. */
export interface Listing<Item> {
  /** The number of entries on all pages. */
  readonly count: number;
  /** Each entry with the number that the list is sorted by, ascending. */
  readonly entries: readonly (readonly [number: number, item: Item])[];
}

export const claimsToRead = limits.claimsPerPage + 1;
export const linksToRead = limits.linksPerPage + 1;

const cut = <Item>(entries: Listing<Item>['entries'], most: number, maxLength: number) => {
  let characters = 0;
  const end = entries.findIndex(([, item], nth) => {
    if (maxLength < Infinity) characters += JSON.stringify(item).length;
    return nth >= most || (nth > 0 && characters > maxLength);
  });
  const page = end < 0 ? entries : entries.slice(0, end);
  return { items: page.map(([, item]) => item), next: end < 0 ? null : (page.at(-1)?.[0] as number) };
};

/** Returns the page of each requested list, as members of the response. */
export const tellLists = (lists: {
  readonly claims: Listing<ClaimDetail> | undefined;
  readonly links: Listing<LinkDetail> | undefined;
  /** Oldest first. */
  readonly merges: readonly MergeDetail[] | undefined;
}): Partial<ContactDetail> => {
  const claims = lists.claims && cut(lists.claims.entries, limits.claimsPerPage, maxCharacters);
  const links = lists.links && cut(lists.links.entries, limits.linksPerPage, Infinity);
  const { merges } = lists;
  if (!claims && !links && !merges) return {};
  return {
    ...(claims && { claims: claims.items, claimCount: lists.claims?.count as number }),
    ...(links && { links: links.items, linkCount: lists.links?.count as number }),
    ...(merges && { merges: merges.slice(-limits.mergesPerContact), mergeCount: merges.length }),
    next: { claim: claims?.next ?? null, link: links?.next ?? null },
  };
};

/** Collects the contacts of one page of a search, at most `limit`. */
export const createFoundPage = (limit: number) => {
  const contacts: FoundContact[] = [];
  let characters = 0;
  return {
    contacts,
    isFull: (): boolean => contacts.length >= limit || characters >= maxCharacters,
    add(contact: FoundContact): void {
      contacts.push(contact);
      characters += JSON.stringify(contact).length;
    },
  };
};
