/** Merges of catalogue entries: one ID that stands for another one, and taking that back. */
import * as z from 'zod';
import { answer, text } from '../answer.ts';
import * as field from '../fields.ts';

/** The catalogues, by the names of their fields in getAccount. */
export const catalogueNames = ['event', 'attr', 'tag', 'profile'] as const;
export type CatalogueName = (typeof catalogueNames)[number];

const catalogue = field.described(
  field.oneOf(catalogueNames),
  'The catalogue: `event`, `attr` (attributes), `tag` or `profile`.',
  'attr',
);
const which = {
  accountUUID: field.described(
    field.optional(field.accountUUID),
    'The account. Required with an operator token; other tokens name their own account, or none.',
  ),
};
const ofEvents = 'an eventID, an attrID, a tagID or a profileID';
const entryID = field.described(field.entryID, `The entry that stays: ${ofEvents}.`, 'plan');
const otherEntryID = field.described(field.entryID, `The entry that is merged into another one: ${ofEvents}.`, 'Plan');

/** For `refine`: an entry of the events is named by its eventID. */
const namesEntry = <Name extends string>(name: Name) => {
  const isEntry = (input: { readonly catalogue: CatalogueName } & Readonly<Record<Name, string>>): boolean =>
    input.catalogue !== 'event' || field.eventID.safeParse(input[name]).success;
  const message = 'must be an eventID, a whole number from 1 to 2147483647, in the catalogue `event`';
  return [isEntry, { path: [name as string], message }] as [typeof isEntry, { path: string[]; message: string }];
};

export const mergeEntryInput = z
  .object({ ...which, catalogue, entryID, otherEntryID })
  .refine(...namesEntry('entryID'))
  .refine(...namesEntry('otherEntryID'));
export const mergeEntryOutput = answer({ entryID: text('The entry that stands for both.', 'plan') });

export const unmergeEntryInput = z.object({ ...which, catalogue, otherEntryID }).refine(...namesEntry('otherEntryID'));
export const unmergeEntryOutput = answer({ otherEntryID: text('The entry that stands for itself again.', 'Plan') });
