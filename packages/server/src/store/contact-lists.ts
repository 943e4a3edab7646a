/** A contact's claims and links, page by page. */
import { limits } from '@firsthand/contract/limits';
import type { ClaimDetail, ContactDetail, LinkDetail } from './store.ts';

/** A claim may be 200 KB long. */
const mostClaimBytes = 1024 * 1024;

/** What a driver reads of a list for one page: an entry more than fits, if there is one. */
export interface Listing<Item> {
  /** Of all pages. */
  readonly count: number;
  /** With the numbers that they are ordered by, ascending. */
  readonly entries: readonly (readonly [number: number, item: Item])[];
}

export const claimsToRead = limits.claimsPerPage + 1;
export const linksToRead = limits.linksPerPage + 1;

const cut = <Item>(entries: Listing<Item>['entries'], most: number, mostBytes: number) => {
  let bytes = 0;
  const end = entries.findIndex(([, item], nth) => {
    if (mostBytes < Infinity) bytes += JSON.stringify(item).length;
    return nth >= most || (nth > 0 && bytes > mostBytes);
  });
  const page = end < 0 ? entries : entries.slice(0, end);
  return { items: page.map(([, item]) => item), next: end < 0 ? null : (page.at(-1)?.[0] as number) };
};

/** The page that an answer holds of each list that was asked for. */
export const tellLists = (lists: {
  readonly claims: Listing<ClaimDetail> | undefined;
  readonly links: Listing<LinkDetail> | undefined;
}): Partial<ContactDetail> => {
  const claims = lists.claims && cut(lists.claims.entries, limits.claimsPerPage, mostClaimBytes);
  const links = lists.links && cut(lists.links.entries, limits.linksPerPage, Infinity);
  if (!claims && !links) return {};
  return {
    ...(claims && { claims: claims.items, claimCount: lists.claims?.count as number }),
    ...(links && { links: links.items, linkCount: lists.links?.count as number }),
    next: { claim: claims?.next ?? null, link: links?.next ?? null },
  };
};
