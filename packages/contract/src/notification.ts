/** Notifications: mails to members, with the figures of reports (digests) or when a condition begins and ends (alerts). */
import * as z from 'zod';
import * as field from './fields.ts';
import { limits } from './limits.ts';
import { viewPage, viewPages, viewQuery } from './reports/view.ts';
import { count, flag, isoTime, response, responseText, text, trueOrAbsent } from './response.ts';

/** A digest has a schedule; the other kinds are alerts. */
export const notificationKinds = ['digest', 'silence', 'threshold', 'drop'] as const;
export type NotificationKind = (typeof notificationKinds)[number];

const reportOperations = ['reportTotals', 'reportBreakdown', 'reportFunnel'] as const;
export type MailedOperation = (typeof reportOperations)[number];

const notificationName = field.describe(
  field.nameInLine.refine((name) => name !== '', field.required).meta({ minLength: 1 }),
  'The name, which is the subject of the mails.',
  'Teapots this week',
);
const kind = field.describe(
  field.oneOf(notificationKinds),
  '`digest`: the figures of the last day or week. `silence`: no events for some hours. `threshold`: more or fewer people or events than a number in the last hour or day. `drop`: fewer than in the same period of the week before.',
  'digest',
);
const every = field.describe(
  field.oneOf(['day', 'week']),
  'For digests: `day` sends the figures of yesterday, `week` those of the last week (Monday to Sunday).',
  'week',
);
const hour = field.describe(
  field.integer(0, 23),
  'For digests: the hour in which mails are sent, in the time zone of the account; 8 by default.',
  8,
);
const weekday = field.describe(
  field.integer(1, 7),
  'For weekly digests: the day on which mails are sent, from 1 (Monday, the default) to 7.',
  1,
);
const hours = field.describe(field.integer(1, 168), 'For `silence`: the hours without events.', 2);
const period = field.describe(
  field.oneOf(['hour', 'day']),
  'For `threshold` and `drop`: the last hour or 24 hours.',
  'day',
);
const measure = field.describe(
  field.oneOf(['people', 'events']),
  'For `threshold` and `drop`: what is counted; `people` by default.',
  'people',
);
const bound = field.integer(0, 1_000_000_000);
const below = field.describe(bound, 'For `threshold`: the alert begins below this number.', 100);
const above = field.describe(bound, 'For `threshold`: the alert begins above this number.', 10_000);
const percent = field.describe(
  field.integer(1, 100),
  'For `drop`: the alert begins this many percent below the same period of the week before.',
  50,
);

const title = field.describe(
  field.nameInLine.refine((name) => name !== '', field.required).meta({ minLength: 1 }),
  'The heading of the report in the mail.',
  'Pages',
);
const request = z.record(z.string(), z.unknown(), field.errorMessage('must be a JSON object', 'object'));
const report = z.object(
  {
    title,
    operation: field.describe(field.oneOf(reportOperations), 'The operation of the report.', 'reportBreakdown'),
    request: field.describe(
      request,
      'The fields of the request for the report. The notification replaces `from`, `to`, `timezone`, `compare` and `interval`.',
      { by: 'attr:path' },
    ),
  },
  field.errorMessage('must be an object with title, operation and request', 'object'),
);
const reports = field.describe(
  field
    .list(report, limits.reportsPerNotification)
    .refine((list) => list.length > 0, 'must contain at least one report'),
  'The reports. An alert has one, of reportTotals; that of `silence` has no filter.',
  [{ title: 'Measures', operation: 'reportTotals', request: {} }],
);
const recipients = field.describe(
  field.list(field.memberID, limits.membersPerAccount),
  'The memberIDs of the members who receive the mails. Members who have not confirmed their address are first asked to. By default, the member of the console session.',
  [],
);
const notificationID = responseText(field.notificationID);

/** The settings of a kind of notification, by kind; required ones first. */
export const settingsOf = {
  digest: { required: ['every'], optional: ['hour', 'weekday'] },
  silence: { required: ['hours'], optional: [] },
  threshold: { required: ['period'], optional: ['measure', 'below', 'above'] },
  drop: { required: ['period', 'percent'], optional: ['measure'] },
} as const satisfies Record<NotificationKind, { required: readonly string[]; optional: readonly string[] }>;

const settingFields = {
  every: field.optional(every),
  hour: field.optional(hour),
  weekday: field.optional(weekday),
  hours: field.optional(hours),
  period: field.optional(period),
  measure: field.optional(measure),
  below: field.optional(below),
  above: field.optional(above),
  percent: field.optional(percent),
};
type SettingName = keyof typeof settingFields;
const settingNames = Object.keys(settingFields) as SettingName[];
export type NotificationSettings = Partial<z.output<z.ZodObject<typeof settingFields>>>;

export const createNotificationInput = z
  .object({
    notificationName,
    kind,
    ...settingFields,
    viewPage: field.optional(viewPage),
    viewQuery: field.optional(viewQuery),
    report: reports,
    recipient: field.optional(recipients),
  })
  .superRefine((input, context) => {
    const add = (name: string, message: string) => context.addIssue({ code: 'custom', path: [name], message });
    const { required, optional }: { required: readonly string[]; optional: readonly string[] } = settingsOf[input.kind];
    for (const name of settingNames) {
      if (input[name] === undefined) {
        if (required.includes(name)) add(name, `is required for the kind ${input.kind}`);
      } else if (![...required, ...optional].includes(name)) add(name, `must not be given for the kind ${input.kind}`);
    }
    if (input.weekday !== undefined && input.every === 'day') add('weekday', 'must not be given with `every: "day"`');
    if (input.kind === 'threshold' && (input.below === undefined) === (input.above === undefined))
      add('below', 'or `above` is required, but not both');
    if (input.kind === 'digest') return;
    if (input.report.length !== 1 || input.report[0]?.operation !== 'reportTotals')
      add('report', 'must be one report of reportTotals for an alert');
    else if (input.kind === 'silence' && input.report[0].request.filter !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['report', 0, 'request', 'filter'],
        message: 'must not be given for the kind silence: name an event instead',
      });
  });
export const createNotificationOutput = response({ notificationID });

export const updateNotificationInput = z.object({
  notificationID: field.notificationID,
  notificationName: field.optional(notificationName),
  recipient: field.optional(recipients),
  state: field.describe(
    field.optional(field.oneOf(['active', 'paused'])),
    'Pauses or resumes the notification.',
    'paused',
  ),
});
export const updateNotificationOutput = response({ notificationID });

export const deleteNotificationInput = z.object({ notificationID: field.notificationID });
export const deleteNotificationOutput = response({ notificationID });

export const listNotificationsInput = z.object({});
export const listNotificationsOutput = response({
  mail: flag('Whether the server can send mails: SMTP_URL and MAIL_FROM are set.'),
  notification: z
    .array(
      z.object({
        notificationID,
        notificationName: responseText(notificationName),
        kind: field.describe(z.enum(notificationKinds), 'The kind.', 'digest'),
        every: field.describe(z.enum(['day', 'week']), 'How often a digest is sent.', 'week').optional(),
        hour: count('The hour in which a digest is sent.', 8).optional(),
        weekday: count('The day on which a weekly digest is sent, from 1 (Monday) to 7.', 1).optional(),
        hours: count('For `silence`: the hours without events.', 2).optional(),
        period: field.describe(z.enum(['hour', 'day']), 'The period that is counted.', 'day').optional(),
        measure: field.describe(z.enum(['people', 'events']), 'What is counted.', 'people').optional(),
        below: count('The alert begins below this number.', 100).optional(),
        above: count('The alert begins above this number.', 10_000).optional(),
        percent: count('The alert begins this many percent below the week before.', 50).optional(),
        viewPage: field.describe(z.enum(viewPages), 'The page in the console.', 'overview'),
        viewQuery: responseText(viewQuery),
        title: field.describe(z.array(z.string()), 'The headings of the reports.', ['Measures', 'Pages']),
        recipient: z
          .array(
            z.object({
              memberID: responseText(field.memberID),
              confirmed: flag('Whether the member has confirmed the e-mail address. Others receive no mails.'),
              self: trueOrAbsent('The member of this console session.'),
            }),
          )
          .describe('The members who receive the mails.'),
        state: field.describe(z.enum(['active', 'paused']), 'Whether the notification is active.', 'active'),
        dueTime: isoTime(
          'When the next digest is sent, or the condition is next checked. Absent while paused.',
        ).optional(),
        activeSinceTime: isoTime('Since when the condition of an alert holds. Absent while it does not.').optional(),
        waiting: count('The number of mails that wait to be sent or sent again.', 0),
        lastSentTime: isoTime('When a mail was last sent. Absent until then.').optional(),
        lastFailureTime: isoTime('When a mail or a check last failed. Absent until then.').optional(),
        lastFailure: text('A description of the last failure; "" if there was none.', 'connect ECONNREFUSED'),
        createdTime: isoTime('When the notification was created.'),
        updatedTime: isoTime('When the notification was last changed.'),
      }),
    )
    .describe('The notifications, oldest first.'),
});
