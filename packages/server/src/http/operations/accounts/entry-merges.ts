/** Merges of catalogue entries. */
import type { CatalogueName } from '@firsthand/contract/account/entries';
import type { Store } from '../../../store/store.ts';
import { actorOf, type Handlers, namedAccount } from '../../access/caller.ts';

/** Returns an entry's ID as the catalogue stores it: an eventID can be sent with leading zeros. */
const canonicalID = (catalogue: CatalogueName, id: string): string => (catalogue === 'event' ? String(Number(id)) : id);

export const createEntryMergeOperations = (
  store: Pick<Store, 'findAccount' | 'mergeEntry' | 'unmergeEntry'>,
): Handlers<'mergeEntry' | 'unmergeEntry'> => ({
  mergeEntry: async ({ accountUUID, catalogue, entryID, otherEntryID }, caller) => {
    const account = await namedAccount(store, caller, accountUUID);
    const id = canonicalID(catalogue, entryID);
    const otherID = canonicalID(catalogue, otherEntryID);
    await store.mergeEntry({ account, kind: catalogue, id, otherID, by: actorOf(caller), time: caller.time });
    return { entryID: id };
  },

  unmergeEntry: async ({ accountUUID, catalogue, otherEntryID }, caller) => {
    const account = await namedAccount(store, caller, accountUUID);
    const otherID = canonicalID(catalogue, otherEntryID);
    await store.unmergeEntry({ account, kind: catalogue, otherID, by: actorOf(caller), time: caller.time });
    return { otherEntryID: otherID };
  },
});
