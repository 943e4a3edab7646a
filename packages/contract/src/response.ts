/** Building blocks shared by all responses. */
import * as z from 'zod';
import { type ErrorCode, errors } from './errors.ts';
import { describe } from './fields.ts';

/** A string in a response, with the description and example of a request field. */
export const responseText = (schema: z.ZodType) => {
  const { description = '', example } = schema.meta() ?? {};
  return describe(z.string(), description, example);
};

/** A string in a response. */
export const text = (description: string, example: string) => describe(z.string(), description, example);
export const flag = (description: string, example = true) => describe(z.boolean(), description, example);

const wholeNumber = z.number().int();
export const count = (description: string, example: number) => describe(wholeNumber, description, example);

/**
 * A time in a response: ISO 8601 in UTC, with milliseconds. The property that holds it must be named `…Time`, `from` or
 * `to`: the client recognizes times by name.
 */
export const isoTime = (description: string, example = '2026-11-01T09:30:00.000Z') =>
  z.string().meta({ description, example, format: 'date-time' });

/** A property that is either true or absent. */
export const trueOrAbsent = (description: string) => describe(z.literal(true), description, true).optional();

export const eventID = count('The kind of event.', 3);

export const status = describe(z.string().regex(/^\d{3}$/), 'The HTTP status, as a string.', '200');

/** The schema of a successful response: the members of `shape`, `ignored` and `status`. */
export const response = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({
    ...shape,
    ignored: z
      .array(
        text(
          'The path of the field, followed by the field that was probably meant.',
          'contactPhone (did you mean contactTelephone?)',
        ),
      )
      .optional()
      .describe(
        'Request fields that have no effect: fields that the operation does not accept, and nested attributes that exceed the limits.',
      ),
    status,
  });

export const problem = z.object({
  code: describe(
    z.enum(Object.keys(errors) as [ErrorCode, ...ErrorCode[]]),
    'The error code, from a closed list.',
    'invalid_field',
  ),
  message: text(
    'A human-readable description of the problem. The wording may change.',
    '`eventID` must be a whole number from 1 to 2147483647',
  ),
  field: text('The path of the field that caused the error.', 'event[3].eventID').optional(),
});

export const errorBody = z.object({
  error: problem,
  requestID: text("Identifies the request in the service's log.", 'q3VnX8bT0zRk5yWcJ1LsA'),
  status: describe(status, 'The HTTP status, as a string.', '400'),
});

export type Problem = z.output<typeof problem>;
export type ErrorBody = z.output<typeof errorBody>;
