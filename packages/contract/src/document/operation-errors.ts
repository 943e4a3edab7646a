/** The error codes that an operation may return, derived from the table of operations. */
import type * as z from 'zod';
import { type ErrorCode, errors } from '../errors.ts';
import { isRead, type Operation } from '../operations.ts';

/** Codes that every operation may return. */
const commonCodes: readonly ErrorCode[] = [
  'invalid_encoding',
  'missing_token',
  'invalid_token',
  'token_kind',
  'server_token_in_browser',
  'url_too_long',
  'too_many_requests',
  'internal',
  'unavailable',
];

/**
 * Codes for any body. `invalid_field` applies even without fields, because the token in the body may not be a string.
 */
const bodyCodes: readonly ErrorCode[] = ['invalid_field', 'invalid_json', 'body_too_large', 'unsupported_media_type'];

/** Whether `missing_field` is possible: a field is required, or becomes required because of another field's value. */
const needsFields = (input: z.ZodType): boolean =>
  !input.safeParse({}).success || (input._zod.def.checks?.length ?? 0) > 0;

/** Fields with filters, whose contact conditions require attrID with attrValue. */
const filterFields = ['filter', 'step', 'first', 'back'];

const fieldsOf = ({ input }: Operation): z.ZodRawShape => (input as z.ZodObject<z.ZodRawShape>).shape;
const hasField = (operation: Operation, name: string): boolean => Object.hasOwn(fieldsOf(operation), name);

/** The error codes that an operation may return for a method, in the order of `errors`. */
export const listErrorCodes = (operation: Operation, method: 'GET' | 'POST'): readonly ErrorCode[] => {
  const { tokens, refuses = [], input } = operation;
  const hasAccountUUID = hasField(operation, 'accountUUID');
  const takesFilters = filterFields.some((name) => hasField(operation, name));
  const codes = new Set<ErrorCode>([
    ...commonCodes,
    ...refuses,
    ...(method === 'POST' ? bodyCodes : []),
    ...(Object.keys(fieldsOf(operation)).length > 0 ? (['invalid_field'] as const) : []),
    ...(isRead(operation) ? (['unknown_field'] as const) : []),
    ...(needsFields(input) || hasAccountUUID || takesFilters ? (['missing_field'] as const) : []),
    ...(hasAccountUUID ? (['unknown_account'] as const) : []),
    ...(tokens.includes('browser') ? (['origin_not_allowed'] as const) : []),
  ]);
  return (Object.keys(errors) as ErrorCode[]).filter((code) => codes.has(code));
};
