/** What the service that an account is on says of itself. */
import * as z from 'zod';
import { answer, count, flag, isoTime, text, told } from '../answer.ts';
import * as field from '../fields.ts';

export const getServiceInput = z.object({});
export const getServiceOutput = answer({
  version: text('The version of Firsthand.', '0.1.0'),
  retentionDays: count('Events are deleted when they are so many days old; 0: they are kept.', 0),
  backupSeconds: count(
    'The service makes a backup of its database each so many seconds; 0: it makes none by itself.',
    86_400,
  ),
  backupTime: isoTime('When the newest of these backups was made; absent if there is none yet.').optional(),
  refusedOrigin: z
    .object({
      origin: text('The origin, as the page sent it.', 'https://www.shop.example'),
      refusedTime: isoTime('When it was refused.'),
    })
    .optional()
    .describe(
      "The newest origin of a page that was refused with the account's browser token because accountOrigin does not list it, as far as this server has seen; absent if there was none, and with an operator token.",
    ),
  leakedToken: z
    .object({
      origin: text('The origin, as the page sent it.', 'https://www.shop.example'),
      tokenID: told(field.tokenID),
      refusedTime: isoTime('When it was refused.'),
    })
    .optional()
    .describe(
      'The newest page that was refused because it sent a secret token of the account, as far as this server has seen: anyone who opens the page can read the token. Absent if there was none, and with an operator token.',
    ),
  unknownProxy: flag(
    'Whether a proxy forwarded requests in the last 24 hours that TRUST_PROXY does not name: all its visitors count as one, and share one rate limit.',
    false,
  ),
});
