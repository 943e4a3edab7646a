import { droppedCount, type StoredRecord } from '../delivery/queue.ts';
import { demand } from '../guard.ts';
import { type Attributes, toAttributesJSON } from './attributes.ts';
import { timeOf } from './event-uuid.ts';

/** The event that `beforeSend` gets and may change. */
export type LoggedEvent = { eventID: number | string; attrs?: Attributes | undefined };

/** An event as JSON for logEvents, without its user (see `becomeUser`). Throws if the eventID is invalid. */
export const toEventRecord = ({ eventID, attrs }: LoggedEvent, eventUUID: string): StoredRecord => {
  // An eventID is an integer from 1 to 2^31−1, which `| 0` leaves unchanged, or the text of one.
  demand(+eventID > 0 && ((eventID as number) | 0) === +eventID, 'no eventID');
  // `navigator.webdriver` is true in automated and headless browsers (WebDriver, "Interface").
  return `{"eventID":${+eventID},"eventUUID":"${eventUUID}","eventTime":${timeOf(eventUUID)},"eventAttrArray":${toAttributesJSON({ dropped: droppedCount(), robot: navigator.webdriver || null }, attrs)}}`;
};
