import { toAttributesJSON } from './attributes.ts';
import { timeOf } from './eventUUID.ts';
import type { StoredRecord } from './queue.ts';

/** Whether this is an eventID: an integer from 1 to 2^31−1 (what `| 0` leaves as it is), or its text. May throw. */
export const isEventID = (eventID: unknown): boolean => {
  const id = Number(eventID);
  return id > 0 && id === (id | 0);
};

/** An event as it goes into logEvents, without its user: see `claimQueued`. */
export const toEventRecord = (eventID: unknown, eventUUID: string, ...attrs: unknown[]): StoredRecord =>
  `{"eventID":${Number(eventID)},"eventUUID":"${eventUUID}","eventTime":${timeOf(eventUUID)},"eventAttrArray":${toAttributesJSON(...attrs)}}`;
