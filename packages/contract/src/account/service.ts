/** Information about the service: version, retention, backups and configuration problems. */
import * as z from 'zod';
import * as field from '../fields.ts';
import { count, flag, isoTime, response, responseText, text } from '../response.ts';

export const getServiceInput = z.object({});
export const getServiceOutput = response({
  version: text('The Firsthand version.', '0.2.0'),
  retentionDays: count('The age in days at which events are deleted; 0 if they are never deleted.', 0),
  backupSeconds: count('The interval of automatic database backups, in seconds; 0 if there are none.', 86_400),
  backupTime: isoTime('When the newest automatic backup was made. Absent if there is none yet.').optional(),
  refusedOrigin: z
    .object({
      origin: text('The origin, as the page sent it.', 'https://www.shop.example'),
      refusedTime: isoTime('When the request was rejected.'),
    })
    .optional()
    .describe(
      "The page whose request with the account's browser token was most recently rejected by this server, because accountOrigin does not list the page's origin. Absent if there is none, or with an operator token.",
    ),
  leakedToken: z
    .object({
      origin: text('The origin, as the page sent it.', 'https://www.shop.example'),
      tokenID: responseText(field.tokenID),
      refusedTime: isoTime('When the request was rejected.'),
    })
    .optional()
    .describe(
      'The page that most recently sent one of the account’s secret tokens to this server, which rejected the request. Anyone who opens the page can read the token. Absent if there is none, or with an operator token.',
    ),
  unknownProxy: flag(
    'Whether requests arrived through a proxy that is not in TRUST_PROXY in the last 24 hours. All visitors behind such a proxy count as one visitor and share one rate limit.',
    false,
  ),
});
