/** What the names in the filters of a request stand for, when it is asked. */
import type { Filter } from '@firsthand/contract/reports/filter';
import type { Store } from '../../../store/store.ts';
import { type Meanings, toEventKinds } from './conditions.ts';
import { findContacts } from './found-contacts.ts';

/** Reads them before the question is asked, so that a report holds every change that was answered. Throws as `findContacts`. */
export const findMeanings = async (
  store: Pick<Store, 'listEventKinds' | 'searchContact' | 'numberContacts'>,
  account: number,
  filters: readonly Filter[],
  now: number,
): Promise<Meanings> => {
  const kinds = toEventKinds(await store.listEventKinds(account));
  return { kinds, contacts: await findContacts(store, account, filters), now };
};
