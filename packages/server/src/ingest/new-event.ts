import { robotMark } from '@firsthand/contract/identifiers';
import { agentKinds, isLabelID, labelIDs } from '@firsthand/contract/labels';
import type { InputOf } from '@firsthand/contract/operations';
import { nanoid } from 'nanoid';
import type { NewEvent } from '../store/store.ts';
import { eventTimeOf, type RequestContext } from './event-time.ts';

/**
 * Creates an eventUUID. It starts with the time, so that events with similar times are close together in an index, and
 * ends with 72 random bits. Nine base-36 digits are enough for milliseconds until the year 5188.
 */
export const createEventUUID = (time: number, random = nanoid(12)): string =>
  time.toString(36).padStart(9, '0') + random;

/** A validated event, from logEvent or from a batch. */
type CheckedEvent = InputOf<'logEvent'>;

/** The user and contact that a batch specifies for all of its events. */
type Envelope = Pick<CheckedEvent, 'userUUID' | 'contactUUID' | 'contactExternalID'>;

/**
 * Returns the event's own attributes, except those with a label's ID, plus the labels. Marks an event from a robot
 * unless it is already marked.
 */
const attributesOf = (
  { eventAttrArray = [] }: CheckedEvent,
  { robot = false, labels }: RequestContext,
): NewEvent['attributes'] => {
  const attributes: (readonly [string, string])[] = [];
  for (const { attrID, attrValue } of eventAttrArray) {
    if (!isLabelID(attrID)) attributes.push([attrID, attrValue]);
  }
  const own = attributes.find(([attrID]) => attrID === robotMark.attrID);
  if (robot && own === undefined) attributes.push([robotMark.attrID, robotMark.attrValue]);
  if (labels === undefined) return attributes;
  attributes.push(...labels);
  // The tracker detected an automated browser that sends an ordinary User-Agent.
  if (!robot && own?.[1] === robotMark.attrValue) attributes.push([labelIDs.agent, agentKinds.automated]);
  return attributes;
};

/**
 * Returns the event to store, with its user, contact, time and eventUUID. The event's own userUUID and contact take
 * precedence over the envelope's.
 */
export const newEvent = (event: CheckedEvent, envelope: Envelope, context: RequestContext): NewEvent => {
  const { eventTime, timeReplaced } = eventTimeOf(event.eventTime, context);
  const source = (event.contactUUID ?? event.contactExternalID) ? event : envelope;
  return {
    userUUID: event.userUUID ?? envelope.userUUID ?? null,
    contactUUID: source.contactUUID ?? null,
    externalID: source.contactUUID === undefined ? (source.contactExternalID ?? null) : null,
    eventID: event.eventID ?? null,
    eventName: event.eventName ?? null,
    mayAddName: true,
    eventUUID: event.eventUUID ?? createEventUUID(context.receivedTime),
    eventTime,
    timeReplaced,
    attributes: attributesOf(event, context),
  };
};
