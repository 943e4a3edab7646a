/** Robots' events, which have a mark among their attributes. */
import { robotMark } from '@firsthand/contract/identifiers';
import { type EventBody, toSought } from './event-body.ts';

const { attrID, attrValue } = robotMark;

/** What is in the body of every event that has the mark, and of few others. */
export const soughtMark = toSought([attrID, attrValue]);

/** Whether an event has the mark of a robot. */
export const isRobot = ({ attributes }: Pick<EventBody, 'attributes'>): boolean =>
  attributes.some((text, nth) => nth % 2 === 0 && text === attrID && attributes[nth + 1] === attrValue);
