import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { check } from '../checking.ts';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import { filter } from './filter.ts';

const schema = z.object({ filter: field.optionalFilter(field.orJSON(filter)) });
const checkFilter = (given: unknown) =>
  check(schema, { filter: typeof given === 'string' ? given : JSON.stringify(given) });
const parsed = (given: unknown) => {
  const result = checkFilter(given);
  return result.ok ? result.value.filter : result.problem;
};
const messageOf = (given: unknown) => {
  const result = checkFilter(given);
  return result.ok ? 'is accepted' : result.problem.message;
};
const event = { event: 1 };
const nested = (levels: number): object => (levels === 1 ? event : { not: nested(levels - 1) });

describe('a filter', () => {
  it.each([
    [{ event: 7 }, { event: [7] }],
    [{ event: 'Signed up' }, { event: ['Signed up'] }],
    [{ event: [7, 'Signed up'] }, { event: [7, 'Signed up'] }],
    [
      { attrID: 'plan', is: 'pro' },
      { attrID: 'plan', is: ['pro'] },
    ],
    [
      { attrID: 'plan', is: ['pro', 5, true, ''] },
      { attrID: 'plan', is: ['pro', '5', 'true', ''] },
    ],
    [
      { attrID: 'plan', isNot: 'pro' },
      { attrID: 'plan', isNot: ['pro'] },
    ],
    [
      { attrID: 'path', contains: '/sale' },
      { attrID: 'path', contains: '/sale' },
    ],
    [
      { attrID: 'path', matches: '/blog/*' },
      { attrID: 'path', matches: '/blog/*' },
    ],
    [
      { attrID: 'plan', exists: false },
      { attrID: 'plan', exists: false },
    ],
    [
      { attrID: 'amount', lessThan: -0.5 },
      { attrID: 'amount', lessThan: -0.5 },
    ],
    [
      { personFirst: 'utm_campaign', is: 'spring' },
      { personFirst: 'utm_campaign', is: ['spring'] },
    ],
    [{ segment: ' Teapot buyers ' }, { segment: 'Teapot buyers' }],
    [{ did: {} }, { did: {} }],
    [
      { did: { event: 'Paid', filter: event, atLeast: 2, withinDays: 30 } },
      { did: { event: ['Paid'], filter: { event: [1] }, atLeast: 2, withinDays: 30 } },
    ],
    [{ did: { from: '1970-01-01T00:00:01Z' } }, { did: { from: 1_000 } }],
    [{ and: [event, { or: [{ not: event }] }] }, { and: [{ event: [1] }, { or: [{ not: { event: [1] } }] }] }],
  ])('is accepted: %j', (given, value) => {
    expect(parsed(given)).toEqual(value);
    expect(check(schema, { filter: given })).toEqual({ ok: true, value: { filter: value } });
  });

  it.each([
    ['', '`filter` must not be empty: omit it to read without this filter'],
    ['pro', '`filter` must be a JSON object; the value is text'],
    ['{"event":', '`filter` must be a JSON object; the value is text'],
    [[event], '`filter` must be a JSON object; the value is a list'],
    [{}, '`filter` must have exactly one of and, or, not, event, contact, did, segment, attrID'],
    [{ event: 1, not: event }, '`filter` must have exactly one of and, or, not, event, contact, did, segment, attrID'],
    [{ and: [] }, '`filter.and` must contain at least one filter'],
    [{ and: event }, '`filter.and` must be a list of filters; the value is an object'],
    [{ not: null }, '`filter.not` must be a JSON object; the value is null'],
    [{ or: [event, { event: 0 }] }, `\`filter.or[1].event\` must be an eventID from 1 to ${limits.eventIDMax}, or`],
    [{ event: [1, ''] }, '`filter.event[1]` must be an eventID'],
    [{ event: [] }, '`filter.event` must contain at least one value'],
    [
      { and: [event, { attrID: 5, is: 'x' }] },
      '`filter.and[1].attrID` must be text of at most 64 characters; the value',
    ],
    [{ and: [event, { is: 'x' }] }, '`filter.and[1].attrID` is required with `is`'],
    [
      { attrID: 'plan' },
      '`filter` must have exactly one of is, isNot, contains, matches, exists, lessThan, greaterThan with',
    ],
    [{ attrID: 'plan', is: 'a', isNot: 'b' }, '`filter` must have exactly one of is, isNot, contains'],
    [{ event: 1, is: 'x' }, '`filter` has `is` with `event`; it belongs with `attrID` or `personFirst`'],
    [{ not: { attrId: 'plan', is: 'x' } }, '`filter.not` has `attrId`, which no filter has; did you mean `attrID`?'],
    [
      { contact: { tag: 'vip' } },
      '`filter.contact` has `tag`; it takes contactProfileID, contactTagID, contactStatus, attrID, attrValue, createdFrom, createdTo, seenFrom, seenTo',
    ],
    [{ contact: { attrValue: 'x' } }, '`filter.contact.attrID` is required with `attrValue`'],
    [
      { contact: { contactStatus: 'gone' } },
      '`filter.contact.contactStatus` must be one of: active, archived, unsubscribed',
    ],
    [{ did: { times: 3 } }, '`filter.did` has `times`; it takes event, filter, atLeast, atMost, withinDays, from, to'],
    [{ did: 'Paid' }, '`filter.did` must be a JSON object; the value is text'],
    [{ did: { atLeast: 0 } }, '`filter.did.atLeast` must be a whole number from 1 to 1000000'],
    [{ did: { atLeast: 3, atMost: 2 } }, '`filter.did.atMost` must not be less than `atLeast` (3)'],
    [{ did: { withinDays: 7, to: '2026-11-01T00:00:00Z' } }, '`filter.did.withinDays` must not be combined with'],
    [
      { did: { from: '2026-11-01T00:00:00Z', to: '2026-11-01T00:00:00Z' } },
      '`filter.did.to` must be later than `from`',
    ],
    [{ not: { did: { filter: { attrID: 'plan' } } } }, '`filter.not.did.filter` must have exactly one of is, isNot'],
    [{ did: { filter: { not: { did: {} } } } }, '`filter.did.filter.not.did` must not be within another `did`'],
    [{ or: Array(6).fill({ did: {} }) }, '`filter.or[5].did` is one too many: a filter has at most 5'],
    [{ not: { segment: '' } }, '`filter.not.segment` is required'],
    [{ segment: ['a'] }, '`filter.segment` must be text of at most 255 characters; the value is a list'],
    [{ contact: 'ann' }, '`filter.contact` must be a JSON object'],
    [
      { tag: 'vip' },
      '`filter` has `tag`, which no filter has; a filter has and, or, not, event, contact, did, segment, attrID',
    ],
    ['{"__proto__":{"event":1},"event":1}', '`filter` has `__proto__`, which no filter has'],
    [{ attrID: 'plan', is: [1, null] }, '`filter.is[1]` must be text of at most 2048 characters'],
    [{ attrID: 'plan', is: { not: 1 } }, '`filter.is` must be text of at most 2048 characters'],
    [{ attrID: 'plan', contains: '' }, '`filter.contains` must not be empty'],
    [
      { attrID: 'path', matches: '*'.repeat(11) },
      '`filter.matches` must be text of at most 255 characters with at most 10 *',
    ],
    [{ attrID: 'plan', exists: 'true' }, '`filter.exists` must be true or false'],
    [{ attrID: 'plan', lessThan: '5' }, '`filter.lessThan` must be a number that a 64-bit float represents exactly'],
    [
      '{"attrID":"plan","greaterThan":1e999}',
      '`filter.greaterThan` must be a number that a 64-bit float represents exactly',
    ],
    [{ attrID: 'plan', is: Array(101).fill('x') }, '`filter.is` must contain at most 100 values'],
    [nested(6), '`filter.not.not.not.not.not` is nested more than 5 levels deep'],
    [{ or: Array(51).fill(event) }, '`filter.or` must contain at most 50 filters'],
    [{ or: Array(50).fill(event) }, '`filter.or[49]` is one condition too many: a filter has at most 50'],
  ])('is rejected with the path of the problem: %j', (given, message) => {
    expect(messageOf(given).slice(0, message.length)).toBe(message);
  });

  it('can be as large as the limits', () => {
    expect(messageOf(nested(limits.filterDepth))).toBe('is accepted');
    expect(messageOf({ or: Array(limits.conditionsPerFilter - 1).fill(event) })).toBe('is accepted');
    expect(messageOf({ attrID: 'a', is: Array(limits.valuesPerCondition).fill('x') })).toBe('is accepted');
  });

  it('is accepted, or rejected with a path, for any JSON; an accepted filter passes a second check unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (given) => {
        const result = checkFilter(given);
        if (result.ok) expect(checkFilter(result.value.filter)).toEqual(result);
        else expect(result.problem.field).toMatch(/^filter/);
      }),
    );
  });
});
