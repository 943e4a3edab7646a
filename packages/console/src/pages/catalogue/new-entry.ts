/** A new entry while it is typed. Pure functions. */
import { type AttrType, attrTypes, type Change, type Entry, type Kind, kinds, namesake, takenBy } from './entries.ts';

interface Draft {
  readonly id: string;
  readonly name: string;
  readonly type: AttrType;
}

export const emptyDraft: Draft = { id: '', name: '', type: 'text' };
export const typesInOrder = Object.entries(attrTypes) as (readonly [AttrType, string])[];

/** The problem of a draft in words; '' if there is none. */
export const problemIn = (kind: Kind, { id, name }: Draft, entries: readonly Entry[]): string => {
  const isEvent = kind === 'event';
  if (isEvent && name === '') return 'Enter a name.';
  if (!isEvent && id === '') return 'Enter an ID.';
  if (isEvent && id !== '' && !/^[1-9]\d*$/.test(id)) return 'The ID of an event is a whole number from 1 on.';
  const same = entries.find((entry) => entry.isListed && entry.id === id);
  if (same) return `The ID ${id} is taken by the ${kinds[kind].one} “${same.name}”.`;
  const taken = namesake(name, entries);
  return taken ? takenBy(kind, taken) : '';
};

export const trimmed = ({ id, name, type }: Draft): Draft => ({ id: id.trim(), name: name.trim(), type });

/** The change that adds it. */
export const additionOf = (kind: Kind, { name, type }: Draft): Change => ({
  ...(name !== '' && { name }),
  ...(kind === 'attr' && { type }),
});
