/** Looks up the names in a request: kinds of events, and contacts. */
import { limits } from '@firsthand/contract/limits';
import { type Filter, partsOf } from '@firsthand/contract/reports/filter';
import { type ContactWord, type DimensionText, isContactWord } from '@firsthand/contract/reports/report';
import { createEntryMerges, type EntryMerges } from '../../../identity/merged-entries.ts';
import { Refusal } from '../../../refusal.ts';
import type { ContactList } from '../../../reports/questions.ts';
import type { Store } from '../../../store/store.ts';
import { createTurns } from '../../../turns.ts';
import { type Meanings, toEventKinds, toUnitedIDs } from './conditions.ts';
import { catalogueOf, createContactFinder, type FindContacts, findContacts, listContacts } from './found-contacts.ts';

/** The part of the store that is read for this. */
export type Known = Pick<Store, 'listCatalogue' | 'listSegments' | 'searchContact' | 'numberContacts'>;

/** How long contacts are looked for. */
const mostMilliseconds = 10_000;
const tooLong = 'the contacts of its conditions or groups were not found in time: narrow the conditions';

interface Named {
  readonly filters: readonly Filter[];
  readonly by?: readonly DimensionText[] | undefined;
}
export type FindMeanings = (
  account: number,
  named: Named,
  asked: { readonly now: number; readonly signal: AbortSignal | undefined },
) => Promise<Meanings>;

const countOnPeople = (filter: Filter): number =>
  Number(filter.contact !== undefined) +
  Number(filter.did !== undefined) +
  partsOf(filter).reduce((sum, [part]) => sum + countOnPeople(part), 0);

/**
 * Reads them before the question is asked, so that a report holds every change that was answered. One search for contacts runs at a time, and
 * a request begins no page of one after 10 s, so that other reads are hardly slower. Throws Refusal.
 */
export const createFindMeanings = (store: Known): FindMeanings => {
  const takeTurn = createTurns(1);
  return async (account, { filters, by = [] }, { now, signal }) => {
    const onPeople = filters.reduce((sum, filter) => sum + countOnPeople(filter), 0);
    if (onPeople > limits.conditionsOnPeople)
      throw new Refusal('invalid_field', {
        field: 'filter',
        message: `The filters of a report have at most ${limits.conditionsOnPeople} conditions on people (\`contact\`, \`did\`) together; these have ${onPeople}.`,
      });
    const events = await store.listCatalogue({ account, kind: 'event' });
    const united = toUnitedIDs(events, await store.listCatalogue({ account, kind: 'attr' }));
    const deadline = performance.now() + mostMilliseconds;
    const search = createContactFinder(store, account, () => {
      if (signal?.aborted) throw new Refusal('no_reports', { message: 'the client has left' });
      if (performance.now() > deadline) throw new Refusal('report_too_slow', { message: tooLong });
    });
    const find: FindContacts = (condition, field) => takeTurn(account, () => search(condition, field));
    const contacts = await findContacts(find, filters);
    const lists = new Map<ContactWord, ContactList[]>();
    const merges = new Map<DimensionText, EntryMerges>([['event', createEntryMerges(events)]]);
    for (const word of by.filter(isContactWord)) {
      const listed = await store.listCatalogue({ account, kind: catalogueOf[word] });
      merges.set(word, createEntryMerges(listed));
      lists.set(word, await listContacts(find, listed, word));
    }
    return { kinds: toEventKinds(events), united, contacts, lists, merges, now };
  };
};
