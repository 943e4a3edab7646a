/** Which error codes an operation may answer, derived from the table of operations. */
import type * as z from 'zod';
import { type ErrorCode, errors } from '../errors.ts';
import { isRead, type Operation } from '../operations.ts';

/** Any operation may refuse a request with these. */
const ofAll: readonly ErrorCode[] = [
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

/** `invalid_field` also without fields, because a body may hold a token that is not text. */
const ofBodies: readonly ErrorCode[] = ['invalid_field', 'invalid_json', 'body_too_large', 'unsupported_media_type'];

/** Whether a field may be missing: one is required, or a refinement wants one beside another or instead of it. */
const needsFields = (input: z.ZodType): boolean =>
  !input.safeParse({}).success || (input._zod.def.checks?.length ?? 0) > 0;

/** In which a condition on contacts takes attrID and attrValue together. */
const filters = ['filter', 'step', 'first', 'back'];

const fieldsOf = ({ input }: Operation): z.ZodRawShape => (input as z.ZodObject<z.ZodRawShape>).shape;
const hasField = (operation: Operation, name: string): boolean => Object.hasOwn(fieldsOf(operation), name);

/** The error codes that the operation may answer to the method, in the order of `errors`. */
export const codesOf = (operation: Operation, method: 'GET' | 'POST'): readonly ErrorCode[] => {
  const { tokens, refuses = [], input } = operation;
  const namesAccount = hasField(operation, 'accountUUID');
  const takesFilters = filters.some((name) => hasField(operation, name));
  const codes = new Set<ErrorCode>([
    ...ofAll,
    ...refuses,
    ...(method === 'POST' ? ofBodies : []),
    ...(Object.keys(fieldsOf(operation)).length > 0 ? (['invalid_field'] as const) : []),
    ...(isRead(operation) ? (['unknown_field'] as const) : []),
    ...(needsFields(input) || namesAccount || takesFilters ? (['missing_field'] as const) : []),
    ...(namesAccount ? (['unknown_account'] as const) : []),
    ...(tokens.includes('browser') ? (['origin_not_allowed'] as const) : []),
  ]);
  return (Object.keys(errors) as ErrorCode[]).filter((code) => codes.has(code));
};
