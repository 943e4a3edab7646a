/** Computes what a browser token's call costs against the rate limits. */
import { isRecord } from '@firsthand/contract/checking';
import type { OperationName } from '@firsthand/contract/operations';
import { rowBytes } from '../../store/rules/row-bytes.ts';
import type { RequestFields } from '../request/input.ts';

export interface CallCost {
  readonly token: number;
  readonly user: string | undefined;
  readonly events: number;
  /** An upper bound on the bytes that the call can add to the store, computed without lookups. */
  readonly bytes: number;
  /** The maximum number of contacts that the call creates. */
  readonly createdContacts: number;
}

/** Counts the distinct users in a batch, because each might be new. */
const countUsers = (events: readonly unknown[]): number => {
  const names = new Set<unknown>();
  for (const event of events) if (isRecord(event) && event.userUUID !== undefined) names.add(event.userUUID);
  return names.size;
};

/**
 * Returns the content's size as UTF-8 JSON, plus the size of the rows that the call can add: events, users, a contact
 * with its claim and link.
 */
export const storedBytes = (
  name: OperationName,
  given: RequestFields,
  events: readonly unknown[] = [undefined],
): number => {
  const content = Buffer.byteLength(JSON.stringify(given));
  if (name === 'createContact') return content + rowBytes.user + rowBytes.contact;
  return content + events.length * rowBytes.event + Math.max(1, countUsers(events)) * rowBytes.user;
};

/** The validated fields that determine a call's cost. */
export interface CountedFields {
  readonly userUUID?: string;
  readonly contactUUID?: string;
  readonly event?: readonly unknown[];
}

/** Returns the cost of a call. Invalid content, which has no validated fields, costs as much as one event. */
export const costOf = (
  name: OperationName,
  token: number,
  given: RequestFields,
  { userUUID, contactUUID, event }: CountedFields = {},
): CallCost => ({
  token,
  user: userUUID ?? contactUUID,
  events: event?.length ?? 1,
  bytes: storedBytes(name, given, event),
  createdContacts: name === 'createContact' ? 1 : 0,
});
