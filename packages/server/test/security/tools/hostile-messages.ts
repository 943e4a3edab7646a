/**
 * Creates random messages to Segment's API: fields with the wrong type, long strings, prototype names, deeply nested
 * objects.
 */
import fc from 'fast-check';
import { newUserUUID } from '../../fixtures/requests.ts';

const names = [
  ...['type', 'event', 'name', 'anonymousId', 'userId', 'previousId', 'groupId', 'messageId'],
  ...['timestamp', 'originalTimestamp', 'properties', 'traits', 'context', 'integrations'],
];
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom('__proto__', 'constructor', '\u0000', 'x'.repeat(40_000), 1e308, '1970-01-01', 'null'),
  fc.dictionary(
    fc.constantFrom('page', 'campaign', 'userAgent', 'ip', 'library', 'email', 'name', 'path'),
    fc.jsonValue(),
  ),
);
const message = fc.record({
  type: fc.constantFrom('track', 'identify', 'page', 'screen', 'group', 'alias'),
  fields: fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 6 }),
});

/** Returns `count` messages, which differ for each seed. */
export const createHostileMessages = (count: number, seed: number): object[] =>
  fc.sample(message, { numRuns: count, seed }).map(({ type, fields }) => ({
    ...{ type, event: 'Bought', userId: 'customer-1', anonymousId: newUserUUID() },
    ...Object.fromEntries(fields),
  }));
