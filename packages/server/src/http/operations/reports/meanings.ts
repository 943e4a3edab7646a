/** What the names in the filters of a request stand for, when it is asked. */
import type { Filter } from '@firsthand/contract/reports/filter';
import type { Store } from '../../../store/store.ts';
import { type Meanings, toEventKinds } from './conditions.ts';
import { findContacts } from './found-contacts.ts';

/** The filters in a request, whatever they are for. */
export const filtersOf = ({
  filter,
  step = [],
  first,
  back,
}: {
  readonly filter?: Filter | undefined;
  readonly step?: readonly Filter[] | undefined;
  readonly first?: Filter | undefined;
  readonly back?: Filter | undefined;
}): Filter[] => [filter, ...step, first, back].filter((one) => one !== undefined);

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
