/** Finds the contacts that a request speaks of, before its question is asked: so a report holds every change that was answered. */

import { limits } from '@firsthand/contract/limits';
import { type ContactFilter, type Filter, partsOf } from '@firsthand/contract/reports/filter';
import type { ContactWord } from '@firsthand/contract/reports/report';
import { Refusal } from '../../../refusal.ts';
import type { ContactList } from '../../../reports/questions.ts';
import type { FoundContacts, ListedEntry, SearchEnd, Store } from '../../../store/store.ts';

type Contacts = Pick<Store, 'searchContact' | 'numberContacts'>;

/** The numbers of the contacts that each condition finds; null for one that any contact meets. */
export type ContactsOf = ReadonlyMap<ContactFilter, Float64Array | null>;

/**
 * Finds contacts by conditions, for one request. Throws Refusal('invalid_field') when they find too many together, and what `check` throws,
 * which is called before each page.
 */
export type FindContacts = (condition: ContactFilter, field: 'filter' | 'by') => Promise<Float64Array>;

export const createContactFinder = (store: Contacts, account: number, check: () => void): FindContacts => {
  /** Equal conditions are looked for once. */
  const known = new Map<string, Float64Array>();
  let total = 0;
  return async (condition, field) => {
    const key = JSON.stringify(condition);
    const before = known.get(key);
    if (before) return before;
    const numbers: number[] = [];
    for (let beyond: SearchEnd | null | undefined; beyond !== null; ) {
      check();
      const page: FoundContacts = await store.searchContact({
        account,
        ...condition,
        limit: limits.contactsPerPage,
        beyond,
      });
      total += page.contacts.length;
      if (total > limits.contactsPerFilter) {
        const most = limits.contactsPerFilter.toLocaleString('en');
        const message =
          field === 'by'
            ? `\`by\` names more than ${most} contacts together with the conditions of the filters.`
            : `The conditions on contacts find more than ${most} contacts; narrow them.`;
        throw new Refusal('invalid_field', { field, message });
      }
      const contactUUIDs = page.contacts.map(({ contactUUID }) => contactUUID);
      if (contactUUIDs.length > 0) numbers.push(...(await store.numberContacts({ account, contactUUIDs })));
      beyond = page.next;
    }
    const found = Float64Array.from(numbers);
    known.set(key, found);
    return found;
  };
};

const conditionsIn = (filter: Filter): ContactFilter[] => [
  ...(filter.contact ? [filter.contact] : []),
  ...partsOf(filter).flatMap(([part]) => conditionsIn(part)),
];

export const findContacts = async (find: FindContacts, filters: readonly Filter[]): Promise<ContactsOf> => {
  const found = new Map<ContactFilter, Float64Array | null>();
  for (const condition of filters.flatMap(conditionsIn)) {
    const isAny = Object.values(condition).every((value) => value === undefined);
    found.set(condition, isAny ? null : await find(condition, 'filter'));
  }
  return found;
};

export const catalogueOf = { contactProfileID: 'profile', contactTagID: 'tag' } as const;

/** The contacts with each profile or tag of `listed`, those that the account lists. */
export const listContacts = async (
  find: FindContacts,
  listed: readonly ListedEntry[],
  word: ContactWord,
): Promise<ContactList[]> => {
  const lists: ContactList[] = [];
  for (const { id, mergedInto } of listed) {
    if (mergedInto !== null) continue;
    const contacts = await find({ [word]: id }, 'by');
    if (contacts.length > 0) lists.push({ value: id, contacts });
  }
  return lists;
};
