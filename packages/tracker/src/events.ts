import { type Attributes, toAttributesJSON } from './attributes.ts';
import { timeOf } from './eventUUID.ts';
import { demand } from './guard.ts';
import { droppedCount, type StoredRecord } from './queue.ts';

/** What `beforeSend` is given, and may change. */
export type LoggedEvent = { eventID: number | string; attrs?: Attributes | undefined };

/** An event as it goes into logEvents, without its user: see `becomeUser`. Throws when the eventID is none. */
export const toEventRecord = ({ eventID, attrs }: LoggedEvent, eventUUID: string): StoredRecord => {
  // An integer from 1 to 2^31−1, which is what `| 0` leaves as it is, or its text.
  demand(+eventID > 0 && ((eventID as number) | 0) === +eventID, 'no eventID');
  // What webdrivers and headless browsers say of themselves (WebDriver, "Interface"); others say false.
  return `{"eventID":${+eventID},"eventUUID":"${eventUUID}","eventTime":${timeOf(eventUUID)},"eventAttrArray":${toAttributesJSON({ dropped: droppedCount(), robot: navigator.webdriver || null }, attrs)}}`;
};
