import { robotMark } from '@firsthand/contract/identifiers';
import type { InputOf } from '@firsthand/contract/operations';
import type { NewEvent } from '../store/store.ts';
import { type Arrival, eventTimeOf } from './event-time.ts';
import { createEventUUID } from './event-uuid.ts';

/** An event as it was checked, alone or in a batch. */
type CheckedEvent = Pick<InputOf<'logEvent'>, 'eventID'> & Partial<Omit<InputOf<'logEvent'>, 'sentTime'>>;

/** What is said once for all events of a batch. */
interface Envelope {
  readonly userUUID?: string | undefined;
  readonly contactUUID?: string | undefined;
}

/** With the mark of a robot, unless it comes with one. */
const attributesOf = ({ eventAttrArray = [] }: CheckedEvent, robot = false): NewEvent['attributes'] => {
  const attributes = eventAttrArray.map(({ attrID, attrValue }) => [attrID, attrValue] as const);
  if (!robot || attributes.some(([attrID]) => attrID === robotMark.attrID)) return attributes;
  return [...attributes, [robotMark.attrID, robotMark.attrValue]];
};

/**
 * The event to keep: who it is of, when it happened and under which eventUUID. Its own userUUID stands in place of the
 * envelope's, and its own contactUUID in place of the envelope's.
 */
export const newEvent = (event: CheckedEvent, envelope: Envelope, arrival: Arrival): NewEvent => {
  const { eventTime, timeReplaced } = eventTimeOf(event.eventTime, arrival);
  return {
    userUUID: event.userUUID ?? envelope.userUUID ?? null,
    contactUUID: event.contactUUID ?? envelope.contactUUID ?? null,
    eventID: event.eventID,
    eventUUID: event.eventUUID ?? createEventUUID(arrival.receivedTime),
    eventTime,
    timeReplaced,
    attributes: attributesOf(event, arrival.robot),
  };
};
