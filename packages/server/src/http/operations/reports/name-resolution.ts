/** Resolves the names in a report request: event names, and conditions on contacts. */
import { limits } from '@firsthand/contract/limits';
import { type ContactFilter, type Filter, partsOf } from '@firsthand/contract/reports/filter';
import { type ContactDimension, type DimensionText, isContactDimension } from '@firsthand/contract/reports/report';
import { createEntryMerges, type EntryMerges } from '../../../identity/merged-entries.ts';
import type { ContactList } from '../../../reports/queries.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Store } from '../../../store/store.ts';
import { type ResolvedNames, toEventKinds, toMergedIDs } from './conditions.ts';
import { type ContactMatches, createContactFinder } from './contact-lookup.ts';
import type { AuthorizedReader, ReportRunner } from './run-report.ts';

/** The part of the store that name resolution reads. */
export type NameStore = Pick<Store, 'listCatalogue' | 'listSegments' | 'feedContacts'>;

const catalogueOf = { contactProfileID: 'profile', contactTagID: 'tag' } as const;

interface NamingFields {
  readonly filters: readonly Filter[];
  readonly by?: readonly DimensionText[] | undefined;
}
export type ResolveNames = (
  account: number,
  fields: NamingFields,
  /** If `reader` is null, contacts are not searched. */
  options: { readonly now: number; readonly reader: AuthorizedReader | null },
) => Promise<ResolvedNames>;

const countOnPeople = (filter: Filter): number =>
  Number(filter.contact !== undefined) +
  Number(filter.did !== undefined) +
  Number(filter.personFirst !== undefined) +
  partsOf(filter).reduce((sum, [part]) => sum + countOnPeople(part), 0);

/** Whether a filter has a condition on contacts, which could select a single person. */
const selectsContacts = (filter: Filter): boolean =>
  filter.contact !== undefined || partsOf(filter).some(([part]) => selectsContacts(part));

/**
 * Returns a function that resolves names before the report runs, so that the report includes every acknowledged change.
 */
export const createNameResolver = (store: NameStore, runner: Pick<ReportRunner, 'prepare'>): ResolveNames => {
  const findContacts = createContactFinder(store, runner);
  return async (account, { filters, by = [] }, { now, reader }) => {
    // Checked here, because only here have segments been replaced with their filters.
    if (reader?.access.kind === 'agent' && filters.some(selectsContacts)) {
      const message =
        'a token of kind agent can’t select contacts: remove the `contact` condition or the segment that has it, or use a viewer token';
      throw new Refusal('token_kind', { message });
    }
    const onPeople = filters.reduce((sum, filter) => sum + countOnPeople(filter), 0);
    if (onPeople > limits.conditionsOnPeople)
      throw new Refusal('invalid_field', {
        field: 'filter',
        message: `The filters of a report may have at most ${limits.conditionsOnPeople} conditions on people (\`contact\`, \`did\`, \`personFirst\`) in total; these have ${onPeople}.`,
      });
    const events = await store.listCatalogue({ account, kind: 'event' });
    const mergedIDs = toMergedIDs(events, await store.listCatalogue({ account, kind: 'attr' }));
    const merges = new Map<DimensionText, EntryMerges>([['event', createEntryMerges(events)]]);
    const groups: { readonly word: ContactDimension; readonly value: string; readonly condition: ContactFilter }[] = [];
    for (const word of by.filter(isContactDimension)) {
      const listed = await store.listCatalogue({ account, kind: catalogueOf[word] });
      merges.set(word, createEntryMerges(listed));
      for (const { id, mergedInto } of listed)
        if (mergedInto === null) groups.push({ word, value: id, condition: { [word]: id } });
    }
    const conditions = { filters, groups: groups.map(({ condition }) => condition) };
    const contacts: ContactMatches = reader === null ? new Map() : await findContacts(account, conditions, reader);
    const lists = new Map<ContactDimension, ContactList[]>();
    for (const { word, value, condition } of groups) {
      const matches = contacts.get(condition);
      if (matches?.length) lists.set(word, [...(lists.get(word) ?? []), { value, contacts: matches }]);
    }
    return { kinds: toEventKinds(events), mergedIDs, contacts, lists, merges, now };
  };
};
