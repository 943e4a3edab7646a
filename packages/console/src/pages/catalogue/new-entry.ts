/** The draft of a new entry. Pure functions. */
import {
  type AttrType,
  attrTypes,
  type Change,
  describeConflict,
  type Entry,
  findNamesake,
  type Kind,
  kinds,
} from './entries.ts';

interface Draft {
  readonly id: string;
  readonly name: string;
  readonly type: AttrType;
}

export const emptyDraft: Draft = { id: '', name: '', type: 'text' };
export const typeOptions = Object.entries(attrTypes) as (readonly [AttrType, string])[];

/** The error message for a draft; '' if it is valid. */
export const problemIn = (kind: Kind, { id, name }: Draft, entries: readonly Entry[]): string => {
  const isEvent = kind === 'event';
  if (isEvent && name === '') return 'Enter a name.';
  if (!isEvent && id === '') return 'Enter an ID.';
  if (isEvent && id !== '' && !/^[1-9]\d*$/.test(id)) return 'An event ID must be a whole number, 1 or greater.';
  const sameID = entries.find((entry) => entry.isListed && entry.id === id);
  if (sameID) return `The ID ${id} is already used by the ${kinds[kind].singular} “${sameID.name}”.`;
  const conflict = findNamesake(name, entries);
  return conflict ? describeConflict(kind, conflict) : '';
};

export const trimmed = ({ id, name, type }: Draft): Draft => ({ id: id.trim(), name: name.trim(), type });

export const toAddition = (kind: Kind, { name, type }: Draft): Change => ({
  ...(name !== '' && { name }),
  ...(kind === 'attr' && { type }),
});
