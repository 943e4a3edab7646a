import type { Store } from '../store.ts';

/** What an operation of the store is asked with. */
export type RequestOf<Name extends keyof Store> = Parameters<Store[Name]>[0];
