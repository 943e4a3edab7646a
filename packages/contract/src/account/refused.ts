/** Refused requests: writes rejected for their content, stored so that they can be fixed and resent. */
import * as z from 'zod';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import { count, flag, isoTime, problem, response, responseText, text } from '../response.ts';

const accountSelector = {
  accountUUID: field.describe(
    field.optional(field.accountUUID),
    'The account. Required with an operator token. With any other token, omit it or send the account of the token.',
  ),
};

const countOf = (description: string, example = 0) => count(description, example);

export const listRefusedInput = z.object({
  ...accountSelector,
  limit: field.describe(
    field.optional(field.integer(1, limits.refusedPerPage)),
    `The maximum number of requests per page; ${limits.refusedPerPage} by default.`,
    20,
  ),
  cursor: field.optional(field.cursor),
});
export const listRefusedOutput = response({
  refused: z
    .array(
      z.object({
        refusedID: responseText(field.refusedID),
        refusedTime: isoTime('When the request was rejected.'),
        operation: text('The operation that the request called.', 'logEvent'),
        tokenID: responseText(field.tokenID),
        tokenKind: text('The token’s kind.', 'browser'),
        robot: flag('Whether a bot, recognized by its user agent, sent the request with a browser token.', false),
        problem: problem.describe('Why the request was rejected.'),
        request: field.describe(
          z.union([z.record(z.string(), z.unknown()), z.string()]),
          'The request without its token, as fields or, if it could not be parsed, as text.',
          { eventID: 'three' },
        ),
      }),
    )
    .describe('The requests, oldest first.'),
  count: z
    .object({
      listed: countOf('Requests that are still on the list.', 1),
      evicted: countOf('Requests that were discarded, or removed because their token’s list was full.'),
      erased: countOf('Requests that were removed because they identified a contact that was erased.'),
      replayed: countOf('Requests that were resent and stored.'),
    })
    .describe('All rejected requests, by outcome.'),
  nextCursor: text('The cursor of the next page; "" on the last page.', ''),
});

export const replayRefusedInput = z.object({
  ...accountSelector,
  refusedID: field.refusedID,
  fix: field.describe(
    field.optional(field.orJSON(z.record(z.string(), z.unknown(), field.errorMessage('must be an object', 'object')))),
    'Fields that replace fields in the request.',
    { eventID: 3 },
  ),
  tokenID: field.describe(
    field.optional(field.tokenID),
    'The token to resend the request with; by default, the original token. Another token must be valid and of the same kind.',
  ),
});
export const discardRefusedInput = z.object({ ...accountSelector, refusedID: field.refusedID });
export const discardRefusedOutput = response({ refusedID: responseText(field.refusedID) });

export const replayRefusedOutput = response({
  refusedID: responseText(field.refusedID),
  replayed: flag('Whether the request was stored. Otherwise it stays on the list.'),
  problem: problem.describe('Why the request was rejected again. Absent if it was stored.').optional(),
});
