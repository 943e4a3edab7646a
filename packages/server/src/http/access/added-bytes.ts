/** Estimates how many bytes a request may add to the store, for the rate limits: an upper bound without look-ups. */
import type { OperationName } from '@firsthand/contract/operations';
import { rowBytes } from '../../store/rules/row-bytes.ts';
import type { Given } from '../request/input.ts';

const isObject = (value: unknown): value is Given => typeof value === 'object' && value !== null;

/** The number of users that the events of a batch name. Each may be new. */
const usersNamed = (events: readonly unknown[]): number => {
  const names = new Set<unknown>();
  for (const event of events) if (isObject(event) && event.userUUID !== undefined) names.add(event.userUUID);
  return names.size;
};

/** The bytes of the content as JSON in UTF-8, and of the rows that it may add: events, users, a contact with its claim and link. */
export const storedBytes = (name: OperationName, given: Given, events: readonly unknown[] | undefined): number => {
  const content = Buffer.byteLength(JSON.stringify(given));
  if (name === 'createContact') return content + rowBytes.user + rowBytes.contact;
  const count = events?.length ?? 1;
  const users = Math.max(1, events === undefined ? 1 : usersNamed(events));
  return content + count * rowBytes.event + users * rowBytes.user;
};
