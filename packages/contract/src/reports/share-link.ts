/** Share links: secret links to a view of reports, for people without an account. */
import * as z from 'zod';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import * as output from '../response.ts';
import { viewPage, viewPages, viewQuery } from './view.ts';

/** The reports that may be shared: they return counts, never contacts, users or events. */
const sharedOperations = ['reportTotals', 'reportBreakdown', 'reportFunnel', 'reportRetention'] as const;
export type SharedOperation = (typeof sharedOperations)[number];

const shareName = field.describe(
  field.nameInLine.refine((name) => name !== '', field.required).meta({ minLength: 1 }),
  'The view’s name, shown to anyone who opens the link.',
  'Teapots this month',
);

const partForm = 'must be 1 to 64 of a-z A-Z 0-9 . _ -';
const part = field.describe(
  z.string(field.errorMessage(partForm)).regex(/^[\w.-]{1,64}$/, partForm),
  'The place on the page where the report is shown. Each report has a different place.',
  'totals',
);

const request = z.record(z.string(), z.unknown(), field.errorMessage('must be a JSON object', 'object'));

const report = z.object(
  {
    part,
    operation: field.describe(field.oneOf(sharedOperations), 'The report’s operation.', 'reportTotals'),
    request: field.describe(request, 'The fields of the report’s request.', {
      from: '2026-11-01',
      to: '2026-12-01',
      interval: 'day',
    }),
  },
  field.errorMessage('must be an object with part, operation and request', 'object'),
);

export const createShareLinkInput = z.object({
  shareName,
  expiresTime: field.describe(
    field.optional(field.time),
    `When the link expires: at most ${limits.shareLinkDays} days from now; by default, ${limits.shareLinkDefaultDays} days from now.`,
    '2026-12-31T00:00:00Z',
  ),
  viewPage,
  viewQuery: field.describe(
    field.optional(viewQuery),
    'How the page shows the reports, as its query string. Parameters that could contain personal data, such as `filter`, are removed.',
    'measure=users',
  ),
  moving: field.describe(
    field.optional(field.oneOf(['day', 'month'])),
    'Advances `from` and `to` of all reports with the calendar, by a day each day or by a month each month. If absent, the range is fixed.',
    'day',
  ),
  report: field.describe(
    field
      .list(report, limits.reportsPerShareLink)
      .refine((list) => list.length > 0, 'must contain at least one report'),
    'The reports that the link shows.',
    [{ part: 'totals', operation: 'reportTotals', request: { from: '2026-11-01', to: '2026-12-01' } }],
  ),
});

const expiresTimeOutput = output.isoTime('When the link expires.', '2026-12-31T00:00:00.000Z');

export const createShareLinkOutput = output.response({
  shareID: output.responseText(field.shareID),
  shareSecret: output.text(
    'The secret of the link `/console/shared/<shareSecret>`. Only this call returns it.',
    'share_4kQwYb5rEv7uJc1LzT8nX2aa9sD3fG6h',
  ),
  expiresTime: expiresTimeOutput,
});

export const listShareLinksInput = z.object({});
export const listShareLinksOutput = output.response({
  shareLink: z
    .array(
      z.object({
        shareID: output.responseText(field.shareID),
        shareName: output.responseText(shareName),
        viewPage: field.describe(z.enum(viewPages), 'The page in the console.', 'events'),
        createdTime: output.isoTime('When the link was created.'),
        createdBy: output.responseText(field.tokenID),
        memberID: output.responseText(field.memberID).optional(),
        expiresTime: expiresTimeOutput,
        lastUsedTime: output
          .isoTime('The hour in which the link was last opened. Absent if it never was.', '2026-11-24T12:00:00.000Z')
          .optional(),
      }),
    )
    .describe(
      'The links that have not been revoked, newest first. Expired links are listed until they are deleted, within about an hour.',
    ),
});

export const revokeShareLinkInput = z.object({ shareID: field.shareID });
export const revokeShareLinkOutput = output.response({ shareID: output.responseText(field.shareID) });
