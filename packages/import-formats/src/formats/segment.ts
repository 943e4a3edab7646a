/**
 * Segment's files in Amazon S3: messages as its HTTP API accepts them, with fields that Segment has added. RudderStack
 * writes the same format.
 *
 * `timestamp` is the event's time, corrected for the client's clock error: receivedAt − (sentAt − originalTimestamp).
 */
import type { Format } from './format.ts';

export const segment: Format = {
  label: 'Segment',
  fields: ['type'],
  toMessages: (row) => {
    const { originalTimestamp, receivedAt, sentAt, ...message } = row;
    return [{ message: { ...message, timestamp: message.timestamp ?? originalTimestamp ?? receivedAt } }];
  },
};
