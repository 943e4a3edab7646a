/** The cost of a browser token's call for the rate limits. */
import { isRecord } from '@firsthand/contract/checking';
import type { OperationName } from '@firsthand/contract/operations';
import { rowBytes } from '../../store/rules/row-bytes.ts';
import type { Given } from '../request/input.ts';

export interface CallCost {
  readonly token: number;
  readonly user: string | undefined;
  readonly events: number;
  /** An upper bound, without look-ups, of the bytes that the call may add to the store. */
  readonly bytes: number;
  readonly createsContact: boolean;
}

/** The number of users that the events of a batch name. Each may be new. */
const usersNamed = (events: readonly unknown[]): number => {
  const names = new Set<unknown>();
  for (const event of events) if (isRecord(event) && event.userUUID !== undefined) names.add(event.userUUID);
  return names.size;
};

/** The bytes of the content as JSON in UTF-8, and of the rows that it may add: events, users, a contact with its claim and link. */
export const storedBytes = (name: OperationName, given: Given, events: readonly unknown[] = [undefined]): number => {
  const content = Buffer.byteLength(JSON.stringify(given));
  if (name === 'createContact') return content + rowBytes.user + rowBytes.contact;
  return content + events.length * rowBytes.event + Math.max(1, usersNamed(events)) * rowBytes.user;
};

/** The checked fields that count. */
export interface CountedFields {
  readonly userUUID?: string;
  readonly contactUUID?: string;
  readonly event?: readonly unknown[];
}

/** A call with invalid content, which has no checked fields, costs as much as one event. */
export const costOf = (
  name: OperationName,
  token: number,
  given: Given,
  { userUUID, contactUUID, event }: CountedFields = {},
): CallCost => ({
  token,
  user: userUUID ?? contactUUID,
  events: event?.length ?? 1,
  bytes: storedBytes(name, given, event),
  createsContact: name === 'createContact',
});
