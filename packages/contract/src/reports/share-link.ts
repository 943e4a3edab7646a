/** Share links: secret links to one view of reports, for people without an account. */
import * as z from 'zod';
import * as told from '../answer.ts';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import { viewPage, viewPages, viewQuery } from './view.ts';

/** The reports that may be shared: they return counts, and no contact, user or event. */
export const sharedOperations = ['reportTotals', 'reportBreakdown', 'reportFunnel', 'reportRetention'] as const;
export type SharedOperation = (typeof sharedOperations)[number];

const shareName = field.described(
  field.nameInLine.refine((name) => name !== '', field.required).meta({ minLength: 1 }),
  'The name of the view. Those who open the link see it.',
  'Teapots this month',
);

const partForm = 'must be 1 to 64 of a-z A-Z 0-9 . _ -';
const part = field.described(
  z.string(field.says(partForm)).regex(/^[\w.-]{1,64}$/, partForm),
  'The place in the page where the report is shown. Each report has another one.',
  'totals',
);

const request = z.record(z.string(), z.unknown(), field.says('must be a JSON object', 'object'));

const report = z.object(
  {
    part,
    operation: field.described(field.oneOf(sharedOperations), 'The operation of the report.', 'reportTotals'),
    request: field.described(request, 'The fields of its request.', {
      from: '2026-11-01',
      to: '2026-12-01',
      interval: 'day',
    }),
  },
  field.says('must be an object of part, operation and request', 'object'),
);

export const createShareLinkInput = z.object({
  shareName,
  expiresTime: field.described(
    field.optional(field.time),
    `When the link ends: at most ${limits.shareLinkDays} days from now; ${limits.shareLinkDefaultDays} days from now, if absent.`,
    '2026-12-31T00:00:00Z',
  ),
  viewPage,
  viewQuery: field.described(
    field.optional(viewQuery),
    'How the page shows the reports, as the query of its address. What could hold personal data is left out, such as `filter`.',
    'measure=users',
  ),
  moving: field.described(
    field.optional(field.oneOf(['day', 'month'])),
    'Moves the days in `from` and `to` of all reports on with the calendar: each day by a day, or each month by a month. The days stay, if absent.',
    'day',
  ),
  report: field.described(
    field.list(report, limits.reportsPerShareLink).refine((list) => list.length > 0, 'must hold at least one report'),
    'The reports that the link shows.',
    [{ part: 'totals', operation: 'reportTotals', request: { from: '2026-11-01', to: '2026-12-01' } }],
  ),
});

const toldExpiresTime = told.isoTime('When the link ends.', '2026-12-31T00:00:00.000Z');

export const createShareLinkOutput = told.answer({
  shareID: told.told(field.shareID),
  shareSecret: told.text(
    'The secret of the link, which is `/console/shared/<shareSecret>`. It is returned only by this call.',
    'share_4kQwYb5rEv7uJc1LzT8nX2aa9sD3fG6h',
  ),
  expiresTime: toldExpiresTime,
});

export const listShareLinksInput = z.object({});
export const listShareLinksOutput = told.answer({
  shareLink: z
    .array(
      z.object({
        shareID: told.told(field.shareID),
        shareName: told.told(shareName),
        viewPage: field.described(z.enum(viewPages), 'The page of the console.', 'events'),
        createdTime: told.isoTime('When the link was made.'),
        createdBy: told.told(field.tokenID),
        memberID: told.told(field.memberID).optional(),
        expiresTime: toldExpiresTime,
        lastUsedTime: told
          .isoTime('The hour in which somebody last opened the link. Absent before.', '2026-11-24T12:00:00.000Z')
          .optional(),
      }),
    )
    .describe(
      'The links that were not revoked, newest first. Those that have ended are listed until they are deleted, within about an hour.',
    ),
});

export const revokeShareLinkInput = z.object({ shareID: field.shareID });
export const revokeShareLinkOutput = told.answer({ shareID: told.told(field.shareID) });
