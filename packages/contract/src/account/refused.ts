/** Refused requests: writes that were refused for their content, stored to be sent again after a fix. */
import * as z from 'zod';
import { answer, count, flag, isoTime, problem, text, told } from '../answer.ts';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';

const which = {
  accountUUID: field.described(
    field.optional(field.accountUUID),
    'The account. Required with an operator token; other tokens name their own account, or none.',
  ),
};

const countOf = (description: string, example = 0) => count(description, example);

export const listRefusedInput = z.object({
  ...which,
  limit: field.described(
    field.optional(field.integer(1, limits.refusedPerPage)),
    `The most requests of one page; ${limits.refusedPerPage} if absent.`,
    20,
  ),
  cursor: field.optional(field.cursor),
});
export const listRefusedOutput = answer({
  refused: z
    .array(
      z.object({
        refusedID: told(field.refusedID),
        refusedTime: isoTime('When it was refused.'),
        operation: text('The operation that it called.', 'logEvent'),
        tokenID: told(field.tokenID),
        tokenKind: text('The kind of its token.', 'browser'),
        robot: flag('Whether a robot sent it with a browser token, by its user agent.', false),
        problem: problem.describe('Why it was refused.'),
        request: field.described(
          z.union([z.record(z.string(), z.unknown()), z.string()]),
          'The request without its token: its fields or, if it could not be parsed, its text.',
          { eventID: 'three' },
        ),
      }),
    )
    .describe('The requests, oldest first.'),
  count: z
    .object({
      listed: countOf('On the list.', 1),
      evicted: countOf('Discarded, or removed because the list of a token was full.'),
      erased: countOf('Removed with a contact that they named.'),
      replayed: countOf('Carried out after a fix.'),
    })
    .describe('All requests that were refused, by what became of them.'),
  nextCursor: text('The cursor of the next page; "" on the last page.', ''),
});

export const replayRefusedInput = z.object({
  ...which,
  refusedID: field.refusedID,
  fix: field.described(
    field.optional(field.orJSON(z.record(z.string(), z.unknown(), field.says('must be an object', 'object')))),
    'Fields that replace those of the request.',
    { eventID: 3 },
  ),
  tokenID: field.described(
    field.optional(field.tokenID),
    'The token to send it with: its own if absent. Another one must be live, and of the same kind.',
  ),
});
export const discardRefusedInput = z.object({ ...which, refusedID: field.refusedID });
export const discardRefusedOutput = answer({ refusedID: told(field.refusedID) });

export const replayRefusedOutput = answer({
  refusedID: told(field.refusedID),
  replayed: flag('Whether it was carried out. If not, it stays on the list.'),
  problem: problem.describe('Why it was refused again. Absent if it was carried out.').optional(),
});
