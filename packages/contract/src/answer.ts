/** The parts that all responses share. */
import * as z from 'zod';
import { type ErrorCode, errors } from './errors.ts';
import { described } from './fields.ts';

/** A text in a response, described as the field of requests that has this schema. */
export const told = (schema: z.ZodType) => {
  const { description = '', example } = schema.meta() ?? {};
  return described(z.string(), description, example);
};

/** A text in a response. */
export const text = (description: string, example: string) => described(z.string(), description, example);
export const flag = (description: string, example = true) => described(z.boolean(), description, example);

const wholeNumber = z.number().int();
export const count = (description: string, example: number) => described(wholeNumber, description, example);

/** A time in a response: ISO 8601 in UTC, with milliseconds. The names of these members end in `Time`, or are `from` and `to`. */
export const isoTime = (description: string, example = '2026-11-01T09:30:00.000Z') =>
  z.string().meta({ description, example, format: 'date-time' });

/** A member that is either true or absent. */
export const mark = (description: string) => described(z.literal(true), description, true).optional();

/** The number of the event's kind in a response. */
export const eventID = count('The kind of event.', 3);

export const status = described(z.string().regex(/^\d{3}$/), 'The HTTP status, as a string.', '200');

/** The schema of a successful response: the members of `shape`, `ignored` and `status`. */
export const answer = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({
    ...shape,
    ignored: z
      .array(
        text(
          'The path of the field, and the field that it may misspell.',
          'contactPhone (did you mean contactTelephone?)',
        ),
      )
      .optional()
      .describe(
        'Fields of the request that have no effect: the operation does not know them, or a nested attribute does not fit the limits.',
      ),
    status,
  });

export const problem = z.object({
  code: described(
    z.enum(Object.keys(errors) as [ErrorCode, ...ErrorCode[]]),
    'What is wrong, as a code from a closed list.',
    'invalid_field',
  ),
  message: text(
    'What is wrong, for people: the wording may change.',
    '`eventID` must be a whole number from 1 to 2147483647',
  ),
  field: text('The field at fault, as a path.', 'event[3].eventID').optional(),
});

export const errorAnswer = z.object({
  error: problem,
  requestID: text('Names the request in the log of the service.', 'q3VnX8bT0zRk5yWcJ1LsA'),
  status: described(status, 'The HTTP status, as a string.', '400'),
});

export type Problem = z.output<typeof problem>;
export type ErrorAnswer = z.output<typeof errorAnswer>;
