/** searchContact: finds contacts, and adds data about them from reports. */
import { limits } from '@firsthand/contract/limits';
import type { OutputOf } from '@firsthand/contract/operations';
import type { ContactFeedPage, ContactSearch, FoundContact, FoundContacts, Store } from '../../store/store.ts';
import { accountOf, type Caller, type Handlers } from '../access/caller.ts';
import { toNamedContact } from '../request/contact-names.ts';
import { parseSearchCursor, toSearchCursor } from '../responses/cursor.ts';
import { isoTime } from '../responses/iso-time.ts';
import { contactResponse } from './contact-responses.ts';
import type { ContactReports } from './reports/contact-reports.ts';

type SearchStore = Pick<Store, 'feedContacts' | 'searchContact'>;

/**
 * How many contacts are read at a time for counting. Reading them takes about 20 ms; then other reads get a turn on the
 * thread.
 */
const contactsPerCount = 20_000;

/** Counts the contacts on all pages of a search; undefined if too many contain its text. */
const countContacts = async (store: SearchStore, search: ContactSearch): Promise<number | undefined> => {
  const { account, text, externalID, address, sort, descending, limit, beyond: _, ...condition } = search;
  let count = 0;
  if (text === undefined) {
    for (let beyond: ContactFeedPage['next'] = null; ; ) {
      const { contacts, next }: ContactFeedPage = await store.feedContacts({
        account,
        conditions: [condition],
        beyond,
        limit: contactsPerCount,
      });
      count += contacts[0]?.length ?? 0;
      if (next === null) return count;
      beyond = next;
    }
  }
  for (let beyond: FoundContacts['next'] | undefined; count <= limits.contactsCountedByText; ) {
    const { contacts, next }: FoundContacts = await store.searchContact({
      ...search,
      limit: limits.contactsPerPage,
      beyond: beyond ?? undefined,
    });
    count += contacts.length;
    if (next === null) return count;
    beyond = next;
  }
  return undefined;
};

/** A segment page has fewer contacts if they are large. */
const contactsPerRead = 100;
const maxPageLength = 1024 * 1024;

export const createSearchContact = (store: SearchStore, reports: ContactReports): Handlers<'searchContact'> => {
  type Found = Pick<FoundContacts, 'contacts'> & { readonly nextCursor: string; readonly count?: number | undefined };

  const searchIn = async (
    segment: string,
    search: ContactSearch,
    { cursor }: { readonly cursor: string | undefined },
    caller: Caller,
  ): Promise<Found> => {
    const { contacts, nextCursorAt } = await reports.readSegment({ segment, limit: search.limit, cursor }, caller);
    const places = new Map(contacts.map((contact, place) => [contact, place]));
    const placeOf = ({ contact }: FoundContact) => places.get(contact) as number;
    const page: FoundContact[] = [];
    let place = 0;
    for (let length = 0; place < contacts.length && length < maxPageLength; place += contactsPerRead) {
      const some = { ...search, contacts: contacts.slice(place, place + contactsPerRead) };
      const found = await store.searchContact(some);
      page.push(...found.contacts.toSorted((a, b) => placeOf(a) - placeOf(b)));
      length += JSON.stringify(found.contacts).length;
    }
    return { contacts: page, nextCursor: nextCursorAt(place) };
  };

  return {
    searchContact: async (
      {
        limit = 100,
        sort = 'created',
        order,
        cursor,
        contactExternalID,
        contactEmailaddress,
        segment,
        include = [],
        ...filter
      },
      caller,
    ) => {
      const account = accountOf(caller);
      const search: ContactSearch = {
        ...filter,
        ...toNamedContact(account, { contactEmailaddress }),
        externalID: contactExternalID,
        sort,
        descending: order === 'desc',
        limit,
      };
      const findAll = async (): Promise<Found> => {
        const page = { ...search, beyond: parseSearchCursor(sort, cursor) };
        const { contacts, next } = await store.searchContact(page);
        const isCounted = include.includes('count') && cursor === undefined;
        const count = isCounted ? (next === null ? contacts.length : await countContacts(store, page)) : undefined;
        return { contacts, nextCursor: toSearchCursor(sort, next), count };
      };
      const { contacts, nextCursor, count } =
        segment === undefined ? await findAll() : await searchIn(segment, search, { cursor }, caller);
      const touches = include.includes('touch') ? await reports.readTouches(contacts, caller) : undefined;
      return {
        ...(count !== undefined && { count }),
        contact: contacts.map(({ lastSeenTime, ...contact }): OutputOf<'searchContact'>['contact'][number] => ({
          ...contactResponse(contact),
          ...(lastSeenTime !== null && { lastSeenTime: isoTime(lastSeenTime) }),
          ...touches?.get(contact.contact),
        })),
        nextCursor,
      };
    },
  };
};
