/**
 * Finds the contacts that match a request's conditions before the report runs, so that the report includes every
 * acknowledged change.
 */
import { limits } from '@firsthand/contract/limits';
import { type ContactFilter, type Filter, partsOf } from '@firsthand/contract/reports/filter';
import { Refusal } from '../../../shared/refusal.ts';
import type { ContactFeedPage, Store } from '../../../store/store.ts';
import type { Reader, ReportRunner } from './run-report.ts';

/** The internal IDs of the contacts that match each condition; null for a condition that every contact matches. */
export type ContactMatches = ReadonlyMap<ContactFilter, Float64Array | null>;

/**
 * Reading this many takes about 20 ms; then other reads get a turn on the thread. It takes longer if many of the
 * contacts have changed since they were indexed.
 */
const contactsPerPart = 20_000;

const conditionsIn = (filter: Filter): ContactFilter[] => [
  ...(filter.contact ? [filter.contact] : []),
  ...partsOf(filter).flatMap(([part]) => conditionsIn(part)),
];

const concatenate = (parts: readonly Float64Array[]): Float64Array => {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

/**
 * Returns a function that finds the contacts matching the conditions in `filters` and `groups`. Equal conditions share
 * an array. It rejects with Refusal('invalid_field') if too many contacts match in total.
 */
export const createContactFinder =
  (store: Pick<Store, 'feedContacts'>, { prepare }: Pick<ReportRunner, 'prepare'>) =>
  async (
    account: number,
    { filters, groups }: { readonly filters: readonly Filter[]; readonly groups: readonly ContactFilter[] },
    reader: Reader,
  ): Promise<ContactMatches> => {
    const all = [...filters.flatMap(conditionsIn), ...groups];
    const isAny = (condition: ContactFilter) => Object.values(condition).every((value) => value === undefined);
    const keys = [
      ...new Set(all.filter((condition) => !isAny(condition)).map((condition) => JSON.stringify(condition))),
    ];
    const conditions: ContactFilter[] = keys.map((key) => JSON.parse(key));
    const find = async (signal: AbortSignal): Promise<Float64Array[]> => {
      const parts = conditions.map((): Float64Array[] => []);
      let total = 0;
      for (let beyond: ContactFeedPage['next'] = null; ; ) {
        signal.throwIfAborted();
        const { contacts, next }: ContactFeedPage = await store.feedContacts({
          account,
          conditions,
          beyond,
          limit: contactsPerPart,
        });
        for (const [nth, matches] of contacts.entries()) {
          parts[nth]?.push(matches);
          total += matches.length;
        }
        if (total > limits.contactsPerFilter) {
          const max = limits.contactsPerFilter.toLocaleString('en');
          const field = groups.length > 0 ? 'by' : 'filter';
          const message = `The conditions on contacts${groups.length > 0 ? ' and `by`' : ''} match more than ${max} contacts in total; narrow them.`;
          throw new Refusal('invalid_field', { field, message });
        }
        if (next === null) return parts.map(concatenate);
        beyond = next;
      }
    };
    const lists = conditions.length === 0 ? [] : await prepare(account, find, reader);
    const byKey = new Map(keys.map((key, nth) => [key, lists[nth] as Float64Array]));
    return new Map(all.map((condition) => [condition, byKey.get(JSON.stringify(condition)) ?? null]));
  };
