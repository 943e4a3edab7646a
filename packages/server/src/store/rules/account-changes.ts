/** Compares an account before and after updateAccount, for both drivers. */
import { type CatalogueKind, type Catalogues, catalogueKinds } from '../store.ts';

/** The values that updateAccount may change, as getAccount returns them: the settings, and the catalogues that are given. */
export type AccountValues = Readonly<Record<string, unknown>>;

/** Returns the kinds whose entries a request gives. */
export const givenKinds = (catalogues: Catalogues): CatalogueKind[] =>
  catalogueKinds.filter((kind) => catalogues[kind] !== undefined);

/** Returns the names of the fields whose values differ. */
export const changedValues = (before: AccountValues, after: AccountValues): string[] =>
  Object.keys(before).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
