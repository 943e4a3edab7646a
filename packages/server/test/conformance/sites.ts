import { afterAll, beforeAll } from 'vitest';
import type { NewAccount, Store } from '../../src/store/store.ts';
import { createSite, type Site } from '../fixtures/site.ts';

/** Opens a new and empty store. */
export type Open = () => Promise<Store>;

/** Makes an account: a test's own, in a store that it shares with others. */
export type NewSite = (changes?: Partial<Omit<NewAccount, 'tokens'>>) => Promise<Site>;

/** One store for the tests of a `describe`, opened before them and closed after. `start` answers the time at which an account is made. */
export const useSites = (open: Open, start?: () => number): NewSite => {
  let store: Store;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store?.close());
  return (changes) => createSite(store, { ...(start && { time: start() }), ...changes });
};
