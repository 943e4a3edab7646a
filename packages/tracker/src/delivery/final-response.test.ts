import { type ErrorCode, errors } from '@firsthand/contract/errors';
import { expect, test } from 'vitest';
import { isFinal } from './final-response.ts';

const isFinalCode = (code: unknown) => Boolean(isFinal({ error: { code: code as string, message: '' } }));

/** The error codes that a retry would not change. Other codes are temporary, or mean that the path is wrong. */
const finalCodes: readonly ErrorCode[] = [
  'missing_field',
  'invalid_field',
  'invalid_json',
  'unknown_id',
  'missing_token',
  'invalid_token',
  'token_kind',
  'id_not_for_browser',
  'origin_not_allowed',
  'server_token_in_browser',
  'email_taken',
  'external_id_taken',
  'erased_contact',
  'body_too_large',
];

test('treats only these of the contract’s error codes as final', () => {
  expect(Object.keys(errors).filter(isFinalCode).sort()).toEqual([...finalCodes].sort());
});

// Up to 0.1.0, the code for `unavailable` was `not_kept`. Old and new trackers retry after both.
test.for([
  404,
  '404',
  'not_kept',
  'unavailable',
  'not_found',
  'NOT_FOUND',
  'invalid_request',
  'xinvalid_field',
  'invalid_fields',
  undefined,
])('does not treat the code %o from another server as final', (code) => expect(isFinalCode(code)).toBe(false));

test.for<[object, boolean]>([
  [{ status: '200', eventUUID: 'event-1' }, true],
  [{ status: '200', eventUUID: 'event-1', duplicate: true }, true],
  [{ status: '200', exists: false, contactUUID: 'contact-1' }, true],
  [{ status: '200' }, false],
  [{ status: '503', eventUUID: 'event-1' }, false],
  // The request's body, which an echo server returns.
  [{ eventID: 1, eventUUID: 'event-1', eventTime: 1, eventAttrArray: [] }, false],
  [{ status: 404, error: 'Not Found', path: '/s/update' }, false],
  [{ error: { code: 404, message: 'Not found', status: 'NOT_FOUND' } }, false],
])('checks whether %j is final: %s', ([response, expected]) => expect(Boolean(isFinal(response))).toBe(expected));
