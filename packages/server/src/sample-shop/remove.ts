/** Removes the sample shop. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from '../store/store.ts';
import { findSampleShop } from './account.ts';

/** Rows that are deleted together. Requests wait that long: some tens of milliseconds. */
const rowsPerStep = 2_000;

interface RemovedShop {
  readonly accountUUID: string;
  readonly deletedEvents: number;
}

/**
 * Deletes the account of the sample shop with all that is in it, also when it was filled in part only. Undefined if there is none: no
 * other account is ever deleted. `onProgress` gets the number of events that are deleted so far.
 */
export const removeSampleShop = async (
  store: Pick<Store, 'listAccounts' | 'deleteAccount'>,
  { onProgress = () => {} }: { readonly onProgress?: (deletedEvents: number) => void } = {},
): Promise<RemovedShop | undefined> => {
  const found = await findSampleShop(store);
  if (!found) return undefined;
  const { account, accountUUID } = found;
  let deletedEvents = 0;
  for (;;) {
    const step = await store.deleteAccount({ account, most: rowsPerStep, time: Date.now() });
    deletedEvents += step.deletedEvents;
    onProgress(deletedEvents);
    if (step.isGone) return { accountUUID, deletedEvents };
    if (step.pauseMilliseconds > 0) await wait(step.pauseMilliseconds);
  }
};
