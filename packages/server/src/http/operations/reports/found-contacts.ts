/** Finds the contacts that a request speaks of, before its question is asked: so a report holds every change that was answered. */
import { limits } from '@firsthand/contract/limits';
import { type ContactFilter, type Filter, partsOf } from '@firsthand/contract/reports/filter';
import { Refusal } from '../../../shared/refusal.ts';
import type { FedContacts, Store } from '../../../store/store.ts';
import type { Ask, Reader } from './asking.ts';

/** The numbers of the contacts that each condition finds; null for one that any contact meets. */
export type ContactsOf = ReadonlyMap<ContactFilter, Float64Array | null>;

/** A part takes some 20 ms, after which other reads find a thread; more if many of its contacts have changed since they were indexed. */
const contactsPerPart = 20_000;

const conditionsIn = (filter: Filter): ContactFilter[] => [
  ...(filter.contact ? [filter.contact] : []),
  ...partsOf(filter).flatMap(([part]) => conditionsIn(part)),
];

const joined = (parts: readonly Float64Array[]): Float64Array => {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

/**
 * Finds the contacts that meet the conditions of filters, and those of `groups`, for a reader. Equal conditions get the same array. Throws
 * Refusal, 'invalid_field' when all conditions together find too many.
 */
export const createContactFinder =
  (store: Pick<Store, 'feedContacts'>, { prepare }: Pick<Ask, 'prepare'>) =>
  async (
    account: number,
    { filters, groups }: { readonly filters: readonly Filter[]; readonly groups: readonly ContactFilter[] },
    reader: Reader,
  ): Promise<ContactsOf> => {
    const all = [...filters.flatMap(conditionsIn), ...groups];
    const isAny = (condition: ContactFilter) => Object.values(condition).every((value) => value === undefined);
    const keys = [
      ...new Set(all.filter((condition) => !isAny(condition)).map((condition) => JSON.stringify(condition))),
    ];
    const conditions: ContactFilter[] = keys.map((key) => JSON.parse(key));
    const find = async (signal: AbortSignal): Promise<Float64Array[]> => {
      const parts = conditions.map((): Float64Array[] => []);
      let total = 0;
      for (let beyond: FedContacts['next'] = null; ; ) {
        signal.throwIfAborted();
        const { contacts, next }: FedContacts = await store.feedContacts({
          account,
          conditions,
          beyond,
          most: contactsPerPart,
        });
        for (const [nth, those] of contacts.entries()) {
          parts[nth]?.push(those);
          total += those.length;
        }
        if (total > limits.contactsPerFilter) {
          const most = limits.contactsPerFilter.toLocaleString('en');
          const field = groups.length > 0 ? 'by' : 'filter';
          const message = `The conditions on contacts${groups.length > 0 ? ' and `by`' : ''} find more than ${most} contacts together; narrow them.`;
          throw new Refusal('invalid_field', { field, message });
        }
        if (next === null) return parts.map(joined);
        beyond = next;
      }
    };
    const lists = conditions.length === 0 ? [] : await prepare(account, find, reader);
    const found = new Map(keys.map((key, nth) => [key, lists[nth] as Float64Array]));
    return new Map(all.map((condition) => [condition, found.get(JSON.stringify(condition)) ?? null]));
  };
