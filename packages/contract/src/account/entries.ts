/** Merging catalogue entries, so that one ID also represents another, and undoing such merges. */
import * as z from 'zod';
import * as field from '../fields.ts';
import { response, text } from '../response.ts';

/** The catalogues, named like their fields in getAccount. */
const catalogueNames = ['event', 'attr', 'tag', 'profile'] as const;
export type CatalogueName = (typeof catalogueNames)[number];

const catalogue = field.describe(
  field.oneOf(catalogueNames),
  'The catalogue: `event`, `attr` (attributes), `tag` or `profile`.',
  'attr',
);
const accountSelector = {
  accountUUID: field.describe(
    field.optional(field.accountUUID),
    'The account. Required with an operator token. With any other token, omit it or send the account of the token.',
  ),
};
const idKinds = 'an eventID, an attrID, a tagID or a profileID';
const entryID = field.describe(field.entryID, `The entry that represents both: ${idKinds}.`, 'plan');
const otherEntryID = field.describe(field.entryID, `The entry that is merged into the other one: ${idKinds}.`, 'Plan');

/** Arguments for `refine`: in the catalogue `event`, an entry is identified by its eventID. */
const checkEntryID = <Name extends string>(name: Name) => {
  const isEntry = (input: { readonly catalogue: CatalogueName } & Readonly<Record<Name, string>>): boolean =>
    input.catalogue !== 'event' || field.eventID.safeParse(input[name]).success;
  const message = 'must be an eventID for the catalogue `event`: a whole number from 1 to 2147483647';
  return [isEntry, { path: [name as string], message }] as [typeof isEntry, { path: string[]; message: string }];
};

export const mergeEntryInput = z
  .object({ ...accountSelector, catalogue, entryID, otherEntryID })
  .refine(...checkEntryID('entryID'))
  .refine(...checkEntryID('otherEntryID'));
export const mergeEntryOutput = response({ entryID: text('The entry that represents both.', 'plan') });

export const unmergeEntryInput = z
  .object({ ...accountSelector, catalogue, otherEntryID })
  .refine(...checkEntryID('otherEntryID'));
export const unmergeEntryOutput = response({ otherEntryID: text('The entry that is separate again.', 'Plan') });
