/**
 * Events whose name is not in the catalogue, because pages are not allowed to add names or the catalogue is full. The
 * name is stored as an attribute, and the eventID is derived from it, so that these events can be counted and found.
 */
import { hash } from 'node:crypto';
import { unlistedNameID } from '@firsthand/contract/labels';
import type { NewEvent, StoredEvent } from '../../store.ts';

/** Unlisted names have eventIDs from here to 2^31 − 1. The eventIDs of listed names start at 1,000,000. */
export const firstUnlistedID = 2 ** 30;

/**
 * Returns the two eventIDs that a canonical name may have while it is unlisted. Two names collide with a probability of
 * 1 in 2^30, and an attacker can forge a collision, so pages are not allowed to send a name whose ID is closed to
 * browsers.
 */
export const unlistedIDsOf = (name: string): [number, number] => {
  const idOf = (text: string) =>
    firstUnlistedID + (Number.parseInt(hash('sha256', text, 'hex').slice(0, 8), 16) % firstUnlistedID);
  return [idOf(name), idOf(`${name}\0`)];
};

/**
 * Returns the eventID of an unlisted name: the second of its IDs if the first now has a different name, as after a
 * rename.
 */
export const unlistedIDOf = (name: string, isNamed: (id: string) => boolean = () => false): number => {
  const [first, second] = unlistedIDsOf(name);
  return isNamed(String(first)) ? second : first;
};

/** Adds an event's name to its attributes. */
export const withUnlistedName = (attributes: NewEvent['attributes'], name: string): NewEvent['attributes'] => [
  ...attributes,
  [unlistedNameID, name],
];

/** Returns a stored event's name. `listed` is the catalogue's name for its eventID; undefined if it is unlisted. */
export const eventNameOf = (
  { eventID, attributes }: Pick<StoredEvent, 'eventID' | 'attributes'>,
  listed: string | undefined,
): string => {
  const number = String(eventID);
  if (listed !== undefined && listed !== number) return listed;
  if (eventID < firstUnlistedID) return number;
  return attributes.find(([attrID]) => attrID === unlistedNameID)?.[1] ?? number;
};
