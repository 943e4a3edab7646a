/** The parts that all responses share. */
import * as z from 'zod';
import { type ErrorCode, errors } from './errors.ts';

export const status = z
  .string()
  .regex(/^\d{3}$/)
  .describe('The HTTP status, as a string.');

/** The schema of a successful response: the members of `shape`, `ignored` and `status`. */
export const answer = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({
    ...shape,
    ignored: z.array(z.string()).optional().describe('Fields of the request that the operation does not know.'),
    status,
  });

export const problem = z.object({
  code: z.enum(Object.keys(errors) as [ErrorCode, ...ErrorCode[]]),
  message: z.string(),
  field: z.string().optional().describe('The field at fault, as a path: event[3].eventID'),
});

export const errorAnswer = z.object({ error: problem, requestID: z.string(), status });

export type Problem = z.output<typeof problem>;
export type ErrorAnswer = z.output<typeof errorAnswer>;

/** A time in a response: ISO 8601 in UTC, with milliseconds. */
export const isoTime = z.string();
export const count = z.number().int();
/** A member that is either true or absent. */
export const mark = z.literal(true).optional();
