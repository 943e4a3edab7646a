/** The results of changing an account, for both drivers: names of changed values, outcomes of refused contacts. */
import { Refusal } from '../../../shared/refusal.ts';
import { type CatalogueKind, type Catalogues, type ContactOutcome, catalogueKinds } from '../../store.ts';

/** The values that updateAccount may change, as getAccount returns them: the settings, and the catalogues that are given. */
export type AccountValues = Readonly<Record<string, unknown>>;

/** Returns the kinds whose entries a request gives. */
export const givenKinds = (catalogues: Catalogues): CatalogueKind[] =>
  catalogueKinds.filter((kind) => catalogues[kind] !== undefined);

/** Returns the names of the fields whose values differ. */
export const changedValues = (before: AccountValues, after: AccountValues): string[] =>
  Object.keys(before).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));

/** Returns the outcome of a contact that was refused. Throws any other error. */
export const refusedContact = (error: unknown): ContactOutcome => {
  if (!(error instanceof Refusal)) throw error;
  return { refused: error.code, message: error.message, ...(error.field && { field: error.field }) };
};
