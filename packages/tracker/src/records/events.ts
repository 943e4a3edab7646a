import { readDroppedCount, type StoredRecord } from '../delivery/queue.ts';
import { demand } from '../guard.ts';
import { type Attributes, toAttributesJSON } from './attributes.ts';
import { parseEventTime } from './event-uuid.ts';
import { toJSONText } from './json.ts';

/**
 * The event passed to `beforeSend`, which may change it. `eventID` is the argument of `log`: an eventID or an event's
 * name.
 */
export type LoggedEvent = { eventID: number | string; attrs?: Attributes | undefined };

/**
 * Returns an event as JSON for logEvents, without its user (see `setUser`). Throws if `eventID` is neither an eventID
 * nor a name.
 */
export const toEventRecord = ({ eventID, attrs }: LoggedEvent, eventUUID: string): StoredRecord => {
  const isText = typeof eventID === 'string';
  // An eventID is an integer from 1 to 2^31−1, which `~~` leaves unchanged, or such an integer as a string.
  const isNumber = /^\d+$/.test(eventID as string) && +eventID > 0 && +eventID === ~~(eventID as number);
  demand(isNumber || (isText && /\S/.test(eventID as string)), 'no eventID');
  // `navigator.webdriver` is true in automated and headless browsers (WebDriver, "Interface").
  return `{"event${isNumber ? `ID":${+eventID}` : `Name":${toJSONText(eventID)}`},"eventUUID":"${eventUUID}","eventTime":${parseEventTime(eventUUID)},"eventAttrArray":${toAttributesJSON({ dropped: readDroppedCount(), robot: navigator.webdriver || null }, attrs)}}`;
};
