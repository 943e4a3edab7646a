/** What the names in a request stand for, when it is asked. */
import type { Filter } from '@firsthand/contract/reports/filter';
import { type DimensionText, isContactWord } from '@firsthand/contract/reports/report';
import type { Store } from '../../../store/store.ts';
import { type Meanings, toEventKinds } from './conditions.ts';
import { createContactFinder, findContacts, listContacts } from './found-contacts.ts';

/** What reports read of the store beside events. */
export type Known = Pick<Store, 'listCatalogue' | 'listSegments' | 'searchContact' | 'numberContacts'>;

/** Reads them before the question is asked, so that a report holds every change that was answered. Throws as a `FindContacts`. */
export const findMeanings = async (
  store: Known,
  account: number,
  { filters, by = [] }: { readonly filters: readonly Filter[]; readonly by?: readonly DimensionText[] | undefined },
  now: number,
): Promise<Meanings> => {
  const kinds = toEventKinds(await store.listCatalogue({ account, kind: 'event' }));
  const find = createContactFinder(store, account);
  const contacts = await findContacts(find, filters);
  const lists: Meanings['lists'] = new Map(
    await Promise.all(
      by.filter(isContactWord).map(async (word) => [word, await listContacts(find, store, account, word)] as const),
    ),
  );
  return { kinds, contacts, lists, now };
};
