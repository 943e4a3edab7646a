import { expect, it } from 'vitest';
import { segment } from './segment.ts';

const message = {
  type: 'track',
  messageId: 'node-next-1793525400000-4b5c6d7e-0000-4000-8000-0123456789ab',
  anonymousId: '507f191e-810c-1972-9de8-60ea00000001',
  event: 'Bought',
  properties: { price: 9 },
};

it('uses the time that Segment has corrected, and does not change the rest of the message', () => {
  const times = { receivedAt: '2026-11-01T09:30:02Z', sentAt: '2025-01-01T00:00:01Z' };
  const originalTimestamp = '2025-01-01T00:00:00Z';
  const timestamp = '2026-11-01T09:30:01.000Z';
  expect(segment.toMessages({ ...message, ...times, originalTimestamp, timestamp })).toEqual([
    { message: { ...message, timestamp } },
  ]);
  expect(segment.toMessages({ ...message, ...times, originalTimestamp })).toEqual([
    { message: { ...message, timestamp: originalTimestamp } },
  ]);
  expect(segment.toMessages({ ...message, ...times })).toEqual([
    { message: { ...message, timestamp: times.receivedAt } },
  ]);
});
