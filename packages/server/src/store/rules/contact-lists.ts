/** Paginates a contact's claims and links, and search results, by count and size. */
import { limits } from '@firsthand/contract/limits';
import type { ClaimDetail, ContactDetail, FoundContact, LinkDetail, MergeDetail } from '../store.ts';

/** A page's maximum JSON length, in UTF-16 code units. A single entry may exceed 200 KB. */
const maxCharacters = 1024 * 1024;

/** The entries that a driver reads for one page of a list: up to one more than fits on the page. */
export interface Listing<Item> {
  /** The total number of entries. */
  readonly count: number;
  /** The entries with their sort keys, ascending. */
  readonly entries: readonly (readonly [number: number, item: Item])[];
}

export const claimsToRead = limits.claimsPerPage + 1;
export const linksToRead = limits.linksPerPage + 1;

const paginate = <Item>(entries: Listing<Item>['entries'], limit: number, maxLength: number) => {
  let characters = 0;
  const end = entries.findIndex(([, item], nth) => {
    if (maxLength < Infinity) characters += JSON.stringify(item).length;
    return nth >= limit || (nth > 0 && characters > maxLength);
  });
  const page = end < 0 ? entries : entries.slice(0, end);
  return { items: page.map(([, item]) => item), next: end < 0 ? null : (page.at(-1)?.[0] as number) };
};

/** Returns the response fields for the requested lists. */
export const paginateLists = (lists: {
  readonly claims: Listing<ClaimDetail> | undefined;
  readonly links: Listing<LinkDetail> | undefined;
  /** Sorted oldest first. */
  readonly merges: readonly MergeDetail[] | undefined;
}): Partial<ContactDetail> => {
  const claims = lists.claims && paginate(lists.claims.entries, limits.claimsPerPage, maxCharacters);
  const links = lists.links && paginate(lists.links.entries, limits.linksPerPage, Infinity);
  const { merges } = lists;
  if (!claims && !links && !merges) return {};
  return {
    ...(claims && { claims: claims.items, claimCount: lists.claims?.count as number }),
    ...(links && { links: links.items, linkCount: lists.links?.count as number }),
    ...(merges && { merges: merges.slice(-limits.mergesPerContact), mergeCount: merges.length }),
    next: { claim: claims?.next ?? null, link: links?.next ?? null },
  };
};

/** Collects up to `limit` contacts for a page of search results. */
export const createPageBuilder = (limit: number) => {
  const contacts: FoundContact[] = [];
  let characters = 0;
  return {
    contacts,
    isFull: (): boolean => contacts.length >= limit || characters >= maxCharacters,
    add(contact: FoundContact): void {
      contacts.push(contact);
      // Excludes the row number, which is not part of the response.
      characters += JSON.stringify({ ...contact, contact: undefined }).length;
    },
  };
};
