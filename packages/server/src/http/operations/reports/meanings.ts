/** Looks up the names in a request: kinds of events, and contacts. */
import { limits } from '@firsthand/contract/limits';
import { type ContactFilter, type Filter, partsOf } from '@firsthand/contract/reports/filter';
import { type ContactWord, type DimensionText, isContactWord } from '@firsthand/contract/reports/report';
import { createEntryMerges, type EntryMerges } from '../../../identity/merged-entries.ts';
import type { ContactList } from '../../../reports/questions.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Store } from '../../../store/store.ts';
import type { Ask, Reader } from './asking.ts';
import { type Meanings, toEventKinds, toUnitedIDs } from './conditions.ts';
import { type ContactsOf, createContactFinder } from './found-contacts.ts';

/** The part of the store that is read for this. */
export type Known = Pick<Store, 'listCatalogue' | 'listSegments' | 'feedContacts'>;

const catalogueOf = { contactProfileID: 'profile', contactTagID: 'tag' } as const;

interface Named {
  readonly filters: readonly Filter[];
  readonly by?: readonly DimensionText[] | undefined;
}
export type FindMeanings = (
  account: number,
  named: Named,
  /** `reader` null: contacts are not searched. */
  asked: { readonly now: number; readonly reader: Reader | null },
) => Promise<Meanings>;

const countOnPeople = (filter: Filter): number =>
  Number(filter.contact !== undefined) +
  Number(filter.did !== undefined) +
  Number(filter.personFirst !== undefined) +
  partsOf(filter).reduce((sum, [part]) => sum + countOnPeople(part), 0);

/** Reads them before the question is asked, so that a report holds every change that was answered. Throws Refusal. */
export const createFindMeanings = (store: Known, ask: Pick<Ask, 'prepare'>): FindMeanings => {
  const findContacts = createContactFinder(store, ask);
  return async (account, { filters, by = [] }, { now, reader }) => {
    const onPeople = filters.reduce((sum, filter) => sum + countOnPeople(filter), 0);
    if (onPeople > limits.conditionsOnPeople)
      throw new Refusal('invalid_field', {
        field: 'filter',
        message: `The filters of a report have at most ${limits.conditionsOnPeople} conditions on people (\`contact\`, \`did\`, \`personFirst\`) together; these have ${onPeople}.`,
      });
    const events = await store.listCatalogue({ account, kind: 'event' });
    const united = toUnitedIDs(events, await store.listCatalogue({ account, kind: 'attr' }));
    const merges = new Map<DimensionText, EntryMerges>([['event', createEntryMerges(events)]]);
    const groups: { readonly word: ContactWord; readonly value: string; readonly condition: ContactFilter }[] = [];
    for (const word of by.filter(isContactWord)) {
      const listed = await store.listCatalogue({ account, kind: catalogueOf[word] });
      merges.set(word, createEntryMerges(listed));
      for (const { id, mergedInto } of listed)
        if (mergedInto === null) groups.push({ word, value: id, condition: { [word]: id } });
    }
    const named = { filters, groups: groups.map(({ condition }) => condition) };
    const contacts: ContactsOf = reader === null ? new Map() : await findContacts(account, named, reader);
    const lists = new Map<ContactWord, ContactList[]>();
    for (const { word, value, condition } of groups) {
      const those = contacts.get(condition);
      if (those?.length) lists.set(word, [...(lists.get(word) ?? []), { value, contacts: those }]);
    }
    return { kinds: toEventKinds(events), united, contacts, lists, merges, now };
  };
};
