import type { Store } from '../store.ts';

/** The request of an operation of the store. */
export type RequestOf<Name extends keyof Store> = Parameters<Store[Name]>[0];
