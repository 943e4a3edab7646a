/** Recognizes events of robots by a mark among their attributes. */
import { robotMark } from '@firsthand/contract/identifiers';
import { type EventBody, toSought } from './event-body.ts';

const { attrID, attrValue } = robotMark;

/** Bytes that the body of every event with the mark contains, and few other bodies do. */
export const soughtMark = toSought([attrID, attrValue]);

/** Whether an event has the robot mark. */
export const isRobot = ({ attributes }: Pick<EventBody, 'attributes'>): boolean =>
  attributes.some((text, nth) => nth % 2 === 0 && text === attrID && attributes[nth + 1] === attrValue);
