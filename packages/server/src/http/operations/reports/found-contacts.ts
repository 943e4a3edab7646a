/** Finds the contacts that the filters of a request speak of, before its question is asked: so a report holds every change that was answered. */

import { limits } from '@firsthand/contract/limits';
import { type ContactFilter, type Filter, partsOf } from '@firsthand/contract/reports/filter';
import { Refusal } from '../../../refusal.ts';
import type { FoundContacts, SearchEnd, Store } from '../../../store/store.ts';

/** The numbers of the contacts that each condition finds; null for one that any contact meets. */
export type ContactsOf = ReadonlyMap<ContactFilter, Float64Array | null>;

const conditionsIn = (filter: Filter): ContactFilter[] => [
  ...(filter.contact ? [filter.contact] : []),
  ...partsOf(filter).flatMap(([part]) => conditionsIn(part)),
];

/** Throws Refusal('invalid_field') when they find too many. */
export const findContacts = async (
  store: Pick<Store, 'searchContact' | 'numberContacts'>,
  account: number,
  filters: readonly Filter[],
): Promise<ContactsOf> => {
  const found = new Map<ContactFilter, Float64Array | null>();
  /** Equal conditions are looked for once. */
  const known = new Map<string, Float64Array>();
  let total = 0;
  const find = async (condition: ContactFilter): Promise<Float64Array> => {
    const numbers: number[] = [];
    for (let beyond: SearchEnd | null | undefined; beyond !== null; ) {
      const page: FoundContacts = await store.searchContact({
        account,
        ...condition,
        limit: limits.contactsPerPage,
        beyond,
      });
      total += page.contacts.length;
      if (total > limits.contactsPerFilter)
        throw new Refusal('invalid_field', {
          field: 'filter',
          message: `The conditions on contacts find more than ${limits.contactsPerFilter.toLocaleString('en')} contacts; narrow them.`,
        });
      const contactUUIDs = page.contacts.map(({ contactUUID }) => contactUUID);
      if (contactUUIDs.length > 0) numbers.push(...(await store.numberContacts({ account, contactUUIDs })));
      beyond = page.next;
    }
    return Float64Array.from(numbers);
  };
  for (const condition of filters.flatMap(conditionsIn)) {
    const key = JSON.stringify(condition);
    const isAny = Object.values(condition).every((value) => value === undefined);
    const contacts = isAny ? null : (known.get(key) ?? (await find(condition)));
    if (contacts) known.set(key, contacts);
    found.set(condition, contacts);
  }
  return found;
};
