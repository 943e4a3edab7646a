/** The results of an account update: the names of changed values, and the outcomes of refused contacts. */
import type { Refusal } from '../../../shared/refusal.ts';
import { type CatalogueKind, type Catalogues, type ContactOutcome, catalogueKinds } from '../../store.ts';

/** The values that an updateAccount request may change, as getAccount returns them. */
export type AccountValues = Readonly<Record<string, unknown>>;

/** Returns the catalogues that a request contains. */
export const listGivenKinds = (catalogues: Catalogues): CatalogueKind[] =>
  catalogueKinds.filter((kind) => catalogues[kind] !== undefined);

/** Returns the names of the fields whose values differ. */
export const findChangedValues = (before: AccountValues, after: AccountValues): string[] =>
  Object.keys(before).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));

export const toRefusedOutcome = ({ code, message, field }: Refusal): ContactOutcome => ({
  refused: code,
  message,
  ...(field && { field }),
});
