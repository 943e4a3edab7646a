import { expect, it } from 'vitest';
import { isEditable, labelOf, leavesOf, pathOf, toCauses, typedAs, valueAt, withValue } from './causes.ts';
import type { RefusedRequest } from './request.ts';

const refused = (nth: number, problem: RefusedRequest['problem'], request: unknown): RefusedRequest =>
  ({
    refusedID: String(nth),
    refusedTime: `2026-11-2${nth}T00:00:00.000Z`,
    operation: 'logEvent',
    tokenID: 't',
    tokenKind: 'browser',
    robot: false,
    problem,
    request,
  }) as RefusedRequest;
const tooLong = {
  code: 'invalid_field',
  field: 'eventName',
  message: '`eventName` must be text of at most 255 characters',
} as const;
const on = (path: string) => ({ eventName: 'x', eventAttrArray: [{ attrID: 'path', attrValue: path }] });

it('groups requests by cause, newest first', () => {
  const causes = toCauses([
    refused(1, tooLong, on('/a')),
    refused(2, tooLong, on('/b')),
    refused(3, tooLong, on('/a')),
    refused(5, { code: 'missing_field', field: 'event[3].eventID', message: '`eventID` is required' }, '{'),
  ]);
  expect(
    causes.map(({ summary, why, requests }) => [summary, why, requests.map(({ refusedID }) => refusedID)]),
  ).toEqual([
    ['1 event', 'the event ID is missing', ['5']],
    ['3 events from 2 pages', 'the name is longer than 255 characters', ['3', '2', '1']],
  ]);
});

it('groups times in seconds, although their messages contain different values', () => {
  const inSeconds = (value: number) => ({
    code: 'invalid_field' as const,
    field: 'eventTime',
    message: `\`eventTime\` is ${value}, a time in 1970. It looks like seconds; send milliseconds or ISO 8601.`,
  });
  const [cause, ...others] = toCauses([
    refused(1, inSeconds(1_795_896_801), {}),
    refused(2, inSeconds(1_795_429_282), {}),
  ]);
  expect(others).toEqual([]);
  expect(cause?.why).toBe('the time is in 1970: it looks like seconds, not milliseconds');
});

it('shows the value of an invalid e-mail address', () => {
  const field = 'contactEmailaddress';
  const problem = { code: 'invalid_field' as const, field, message: '`contactEmailaddress` must be an e-mail address' };
  const [cause] = toCauses([refused(1, problem, { contactEmailaddress: 'ann@' })]);
  expect([cause?.why, cause?.sent]).toEqual(['the e-mail address is not valid', 'ann@']);
});

it('labels fields in words, and omits IDs', () => {
  const request = {
    userUUID: 'u',
    contactProfileID: 'customer',
    event: [{}, { eventName: 'x', eventAttrArray: [{ attrID: 'plan', attrValue: 'pro' }] }],
  };
  expect(
    leavesOf(request)
      .filter(isEditable)
      .map((path) => labelOf(request, path)),
  ).toEqual(['The profile', 'Event #2: the name', 'Event #2: the attribute “plan”']);
});

it('reads and replaces the value at a field’s path', () => {
  const request = { event: [{ eventID: 1 }, { eventID: 'two' }] };
  const path = pathOf('event[1].eventID');
  expect(path).toEqual(['event', 1, 'eventID']);
  expect(valueAt(request, path)).toBe('two');
  expect(withValue(request, path, 2)).toEqual({ event: [{ eventID: 1 }, { eventID: 2 }] });
  expect(withValue({}, ['eventID'], 3)).toEqual({ eventID: 3 });
  expect(leavesOf(request)).toEqual([
    ['event', 0, 'eventID'],
    ['event', 1, 'eventID'],
  ]);
  expect([typedAs(1, '5'), typedAs('1', '5'), typedAs(1, 'x')]).toEqual([5, '5', 'x']);
});
