/** How much a request may add to what is stored, for the rate limits: an upper estimate that looks nothing up. */
import type { OperationName } from '@firsthand/contract/operations';
import { rowBytes } from '../store/row-bytes.ts';
import type { Given } from './input.ts';

const isObject = (value: unknown): value is Given => typeof value === 'object' && value !== null;

/** How many users a batch names by its events; each may be new. */
const usersNamed = (events: readonly unknown[]): number => {
  const names = new Set<unknown>();
  for (const event of events) if (isObject(event) && event.userUUID !== undefined) names.add(event.userUUID);
  return names.size;
};

/** The content as JSON, in bytes of UTF-8, and the rows that it may make: `events`, their users, a contact with its claim and link. */
export const storedBytes = (name: OperationName, given: Given, events: readonly unknown[] | undefined): number => {
  const content = Buffer.byteLength(JSON.stringify(given));
  if (name === 'createContact') return content + rowBytes.user + rowBytes.contact;
  const count = events?.length ?? 1;
  const users = Math.max(1, events === undefined ? 1 : usersNamed(events));
  return content + count * rowBytes.event + users * rowBytes.user;
};
