/**
 * Events with a name that the account does not list, because a page may not add it or the catalogue is full. Such an event has the name
 * as an attribute, and an eventID made from the name, so that it is counted and found like any other.
 */
import { hash } from 'node:crypto';
import { unlistedNameID } from '@firsthand/contract/labels';
import type { NewEvent, StoredEvent } from '../../store.ts';

/** Unlisted names have eventIDs from here to 2^31 − 1. Listed ones get IDs from 1,000,000 on. */
export const firstUnlistedID = 2 ** 30;

/**
 * The eventIDs that a name can have while it is not listed; `name` is canonical. Two names share one with a probability of 1 in 2^30. Anyone
 * can forge such a pair, so a page may not send a name whose ID is closed to pages.
 */
export const unlistedIDsOf = (name: string): [number, number] => {
  const idOf = (text: string) =>
    firstUnlistedID + (Number.parseInt(hash('sha256', text, 'hex').slice(0, 8), 16) % firstUnlistedID);
  return [idOf(name), idOf(`${name}\0`)];
};

/** The eventID of a name that is not listed: the second if the first has become that of another name, as after a renaming. */
export const unlistedIDOf = (name: string, isNamed: (id: string) => boolean = () => false): number => {
  const [first, second] = unlistedIDsOf(name);
  return isNamed(String(first)) ? second : first;
};

/** The attributes of an event, with its name. */
export const withUnlistedName = (attributes: NewEvent['attributes'], name: string): NewEvent['attributes'] => [
  ...attributes,
  [unlistedNameID, name],
];

/** The name of a stored event. `listed` is the name of its eventID in the catalogue; undefined if it is not listed. */
export const eventNameOf = (
  { eventID, attributes }: Pick<StoredEvent, 'eventID' | 'attributes'>,
  listed: string | undefined,
): string => {
  const number = String(eventID);
  if (listed !== undefined && listed !== number) return listed;
  if (eventID < firstUnlistedID) return number;
  return attributes.find(([attrID]) => attrID === unlistedNameID)?.[1] ?? number;
};
