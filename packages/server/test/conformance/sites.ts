import { afterAll, beforeAll } from 'vitest';
import type { NewAccount, Store } from '../../src/store/store.ts';
import { createSite, type Site } from '../fixtures/site.ts';

/** Opens a new, empty store. */
export type Open = () => Promise<Store>;

/** Creates an account for one test, in a store that tests share. */
export type NewSite = (changes?: Partial<Omit<NewAccount, 'tokens'>>) => Promise<Site>;

/**
 * Opens one store for the tests of a `describe`, and closes it after them. `start` returns an account's creation time.
 */
export const useSites = (open: Open, start?: () => number): NewSite => {
  let store: Store;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store?.close());
  return (changes) => createSite(store, { ...(start && { time: start() }), ...changes });
};
