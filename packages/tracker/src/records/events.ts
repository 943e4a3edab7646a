import { droppedCount, type StoredRecord } from '../delivery/queue.ts';
import { demand } from '../guard.ts';
import { type Attributes, toAttributesJSON } from './attributes.ts';
import { timeOf } from './event-uuid.ts';
import { toJSONText } from './json.ts';

/** The event that `beforeSend` gets and may change. `eventID` is what `log` was given: an eventID or an event's name. */
export type LoggedEvent = { eventID: number | string; attrs?: Attributes | undefined };

/**
 * An event as JSON for logEvents, without its user (see `becomeUser`). Throws if `eventID` is neither an eventID nor a name.
 */
export const toEventRecord = ({ eventID, attrs }: LoggedEvent, eventUUID: string): StoredRecord => {
  const isText = typeof eventID === 'string';
  // An eventID is an integer from 1 to 2^31−1, which `~~` leaves unchanged, or the text of one.
  const isNumber = /^\d+$/.test(eventID as string) && +eventID > 0 && +eventID === ~~(eventID as number);
  demand(isNumber || (isText && /\S/.test(eventID as string)), 'no eventID');
  // `navigator.webdriver` is true in automated and headless browsers (WebDriver, "Interface").
  return `{"event${isNumber ? `ID":${+eventID}` : `Name":${toJSONText(eventID)}`},"eventUUID":"${eventUUID}","eventTime":${timeOf(eventUUID)},"eventAttrArray":${toAttributesJSON({ dropped: droppedCount(), robot: navigator.webdriver || null }, attrs)}}`;
};
