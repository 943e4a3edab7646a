/** Reports: what people did, counted over all events in a range. */
import * as z from 'zod';
import { hasAtMostOneKind, kindFilter, twoKindsProblem } from '../event.ts';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import * as output from '../response.ts';
import { filter } from './filter.ts';

/** The earlier ranges that a report can be compared with. */
export const comparisonPeriods = ['previous', 'week', 'month', 'year'] as const;
export type ComparisonPeriod = (typeof comparisonPeriods)[number];

/** The fields that every report over a range has. */
export const reportFields = {
  from: field.describe(
    field.timeOrDay,
    'Only events at or after this time. A date without a time is the start of that day in `timezone`.',
    '2026-11-01',
  ),
  to: field.describe(
    field.optional(field.timeOrDay),
    'Only events before this time, in the same form as `from`; now, if absent.',
    '2026-12-01',
  ),
  timezone: field
    .optional(field.timezone)
    .describe("The time zone in which days, weeks and months begin. Defaults to the account's."),
  filter: field.describe(field.optionalFilter(field.orJSON(filter)), 'Only events that match this condition.', {
    attrID: 'product',
    exists: true,
  }),
  compare: field.describe(
    field.optional(field.oneOf(comparisonPeriods)),
    'Adds `earlier`: the same report over an earlier range. `previous` is the range just before, with the same number of days or, if both ends are the start of a month, of months. `week`, `month` and `year` are the same dates a week, a month or a year earlier. Without `to`, `previous` is shifted by whole days and ends at the same time of day: today so far is compared with yesterday up to this time.',
    'previous',
  ),
  robots: field.describe(
    field.optional(field.oneOf(['include', 'exclude'])),
    '`include` also counts events whose attribute `robot` is `true`. By default, these events are left out.',
    'include',
  ),
};

export const measureFields = {
  ...kindFilter,
  attrID: field.describe(
    field.optional(field.attrID),
    'An attribute whose values are numbers, such as an amount: adds `value` to all counts.',
    'amount',
  ),
};

/** A statistic; null if there are no numbers. */
const figure = (description: string, example: number) => field.describe(z.number().nullable(), description, example);

/** Statistics of the numbers in an attribute. */
export const figures = z
  .object({
    count: output.count('Events in which the attribute is a number.', 40),
    sum: figure('The sum. Like the other statistics, null if no event has a number.', 1920),
    average: figure('The average.', 48),
    median: figure('The median: half of the numbers are lower.', 36.5),
    p95: figure('The 95th percentile.', 120),
  })
  .optional()
  .describe('With `attrID`: statistics of the numbers in that attribute.');

const measures = {
  events: output.count('Events.', 320),
  users: output.count('Distinct users (browsers).', 52),
  people: output.count('Distinct people. The person of an event is its owner or, without one, its user.', 45),
  sessions: output.count(
    'Sessions with such an event. A session is a series of events from one user in the range without a gap of 30 minutes.',
    61,
  ),
  value: figures,
};

const average = (description: string, example: number) =>
  field.describe(z.number().nullable(), `${description}; null if there is no session.`, example);
/** Statistics of whole sessions. */
const visits = z
  .object({
    bounceRate: average(
      'The share of sessions that consist of a single page view: one event, with the attribute `path`',
      0.4,
    ),
    pages: average('The average number of page views per session', 3.2),
    seconds: average('The average number of seconds from a session’s first event to its last', 184),
  })
  .optional()
  .describe('With `visits`: statistics of the counted sessions, over all their events in the range.');
const visitsField = field.describe(
  field.optional(field.oneOf(['include'])),
  '`include` adds `visits` to the counts: bounce rate, page views and duration of the counted sessions.',
  'include',
);

const conversions = z
  .object({
    people: output.count('The counted people who reached the goal in the range.', 9),
    sessions: output.count('The counted sessions in which the goal was reached.', 10),
    peopleRate: figure('`people` as a share of the counted people; null if there are none.', 0.2),
    sessionsRate: figure('`sessions` as a share of the counted sessions; null if there are none.', 0.16),
    value: figures.describe(
      "If the goal has an attribute: statistics of its numbers in the goal's events, over the counted sessions.",
    ),
    seconds: z
      .object({
        average: figure('The average. Like the other statistics, null if nobody reached the goal.', 5_400),
        median: figure('The median: half of the people took less time.', 1_260),
        p95: figure('The 95th percentile.', 86_400),
      })
      .optional()
      .describe(
        "The seconds from a person's first event in the range, of any kind, until the goal was first reached. Absent in intervals.",
      ),
  })
  .optional()
  .describe(
    'With `goalID`: who of the counted people and sessions reached the goal in the range, with any event, even one that `filter` does not match. In an interval, only goal events in the interval count.',
  );
const goalIDField = field.describe(
  field.optional(field.goalID),
  'Adds `conversions` to the counts: who reached this goal.',
  'g2Tn2kQwYb5rEv7uJc1Lz',
);

export const range = {
  from: output.isoTime('The start of the range.', '2026-11-01T00:00:00.000Z'),
  to: output.isoTime('The end of the range, exclusive.', '2026-12-01T00:00:00.000Z'),
};

/** A report's response: the counts for the range and, with `compare`, for the earlier range. */
const response = <Shape extends z.ZodRawShape>(shape: Shape) =>
  output.response({
    ...range,
    ...shape,
    earlier: z
      .object({ ...range, ...shape })
      .optional()
      .describe('With `compare`: the same for the earlier range.'),
    timezone: output.text('The report’s time zone.', 'Europe/London'),
    through: output.text(
      'The position up to which all events are counted. Pass it to streamEvents as `cursor` to continue with later events.',
      'ZTEuNDI',
    ),
    milliseconds: output.count('How long the report took, including time in the queue.', 38),
  });

const interval = {
  from: output.isoTime('The start of the interval.', '2026-11-01T00:00:00.000Z'),
  to: output.isoTime('The end of the interval.', '2026-11-02T00:00:00.000Z'),
};

const intervalName = field.oneOf(['hour', 'day', 'week', 'month']);

export const reportTotalsInput = z
  .object({
    ...reportFields,
    ...measureFields,
    visits: visitsField,
    goalID: goalIDField,
    interval: field.describe(
      field.optional(intervalName),
      'Adds `interval`: the counts of each hour, day, week (from Monday) or month. The first interval starts at `from`, the last one ends at `to`.',
      'day',
    ),
  })
  .refine(hasAtMostOneKind, twoKindsProblem);

export const reportTotalsOutput = response({
  total: z.object({ ...measures, visits, conversions }).describe('The counts over the whole range.'),
  interval: z
    .array(z.object({ ...interval, ...measures, visits, conversions }))
    .optional()
    .describe(
      'With `interval`: the counts for each interval, in order, including empty ones. A user, person or session counts in every interval in which it has an event.',
    ),
});

const contactDimensions = ['contactProfileID', 'contactTagID'] as const;
const dimensionNames = [
  ...(['event', 'weekday', 'hour', 'entryPage', 'exitPage', 'referrerHost', 'entryReferrerHost'] as const),
  'firstReferrerHost',
  ...contactDimensions,
] as const;
/**
 * Prefixes for an attrID. They select the event that the attribute is taken from: the event itself, the first or last
 * event of its session, or the first event ever of its person that has the attribute.
 */
const attributePrefixes = ['attr:', 'first:', 'last:', 'person:first:'] as const;
type AttributePrefix = (typeof attributePrefixes)[number];
/** A dimension of a breakdown: a name, or a prefix with an attrID. */
export type DimensionText = (typeof dimensionNames)[number] | `${AttributePrefix}${string}`;

/** A dimension of the contact that owns an event. */
export type ContactDimension = (typeof contactDimensions)[number];
export const isContactDimension = (dimension: DimensionText): dimension is ContactDimension =>
  (contactDimensions as readonly string[]).includes(dimension);

/** The prefix and attrID of an attribute dimension; undefined for other dimensions. */
export const parseAttributeDimension = (dimension: string): { prefix: AttributePrefix; attrID: string } | undefined => {
  const prefix = attributePrefixes.find((each) => dimension.startsWith(each));
  return prefix && { prefix, attrID: dimension.slice(prefix.length) };
};

const isDimension = (text: unknown): text is DimensionText => {
  if (typeof text !== 'string') return false;
  const attribute = parseAttributeDimension(text);
  if (attribute) return field.attrID.safeParse(attribute.attrID).success;
  return (dimensionNames as readonly string[]).includes(text);
};

const dimensionForm = `must be one or two of ${dimensionNames.join(', ')} and attr:<attrID>, first:<attrID>, last:<attrID>, person:first:<attrID>, separated by a comma`;
export const by = field
  .commaSeparated<DimensionText[], DimensionText>(
    z
      .array(z.custom<DimensionText>(isDimension, dimensionForm), field.errorMessage(dimensionForm))
      .min(1, dimensionForm)
      .max(2, dimensionForm)
      .refine(([first, second]) => first !== second, 'must not contain the same dimension twice'),
  )
  .meta({
    description:
      'One or two dimensions, separated by a comma. `attr:plan` is the attribute `plan` of the event. `first:utm_campaign` and `last:utm_campaign` take the attribute from the first and last event of the session that has it. `person:first:utm_campaign` takes it from the first event ever of the person in which it occurs, across browsers and inside or outside the range. `weekday` (`1`, Monday, to `7`) and `hour` (`0` to `23`) are in `timezone`. `entryPage` and `exitPage` are `first:path` and `last:path`. `referrerHost` is the host in the attribute `referrer`, `entryReferrerHost` the one in `first:referrer`, and `firstReferrerHost` the one in `person:first:referrer`; all are null for hosts of `accountOrigin` and of the visitor’s own machine. `contactProfileID` is the current profile of the owner. `contactTagID` is each current tag of the owner; the event counts in the row of each tag. Both are null for events without an owner, and for owners without a listed profile or tag.',
    example: 'attr:product',
    sent: { type: 'string' },
  });

export const reportBreakdownInput = z
  .object({
    by,
    ...reportFields,
    ...measureFields,
    sort: field.describe(
      field.optional(field.oneOf(['events', 'users', 'people', 'sessions'])),
      'The count by which rows are sorted, highest first; `people` by default.',
      'events',
    ),
    limit: field.describe(
      field.optional(field.pageLimit(limits.rowsPerBreakdown)),
      `The maximum number of rows; \`others\` counts the events in all further rows. 100 by default; with \`interval\` 5 by default, and at most ${limits.rowsOverTime}.`,
      10,
    ),
    visits: visitsField,
    goalID: goalIDField,
    interval: field.describe(
      field.optional(intervalName),
      'Adds `interval` to each row: its counts for each hour, day, week (from Monday) or month.',
      'day',
    ),
    conversion: field.describe(
      field.optional(field.oneOf(['include'])),
      '`include` adds `among` to `total` and to rows: the number of people with any event that matches `filter`, of any kind. Groups that have only events of other kinds are returned as rows of zeros after all other rows, up to `limit`. Requires `eventID` or `eventName`.',
      'include',
    ),
  })
  .refine(hasAtMostOneKind, twoKindsProblem)
  .superRefine(({ interval: rowInterval, limit, conversion, eventID, eventName }, context) => {
    const add = (name: string, message: string) => context.addIssue({ code: 'custom', path: [name], message });
    if (rowInterval !== undefined && (limit ?? 0) > limits.rowsOverTime)
      add('limit', `must be at most ${limits.rowsOverTime} with \`interval\``);
    if (conversion !== undefined && (eventID ?? eventName) === undefined)
      add('conversion', 'requires `eventID` or `eventName`');
  });

const group = {
  values: z
    .array(field.describe(z.string().nullable(), 'A value; null for events without one.', 'Stone teapot'))
    .describe('The row’s values, in the order of `by`; an eventID for `event`.'),
  eventName: output.text('With `by=event`: the current name of that kind of event.', 'Basket filled').optional(),
};

const among = output
  .count('With `conversion`: people with any event that matches `filter`, of any kind.', 120)
  .optional();

export const reportBreakdownOutput = response({
  total: z.object({ ...measures, visits, conversions, among }).describe('The counts over the whole range.'),
  row: z
    .array(
      z.object({
        ...group,
        ...measures,
        visits,
        conversions,
        among,
        interval: z
          .array(z.object({ ...interval, ...measures }))
          .optional()
          .describe('With `interval`: the counts for each interval, in order, including empty ones.'),
      }),
    )
    .describe('The rows, sorted.'),
  others: z
    .object({ groups: output.count('The number of omitted rows.', 12), ...measures })
    .optional()
    .describe(
      'The counts of all events in omitted rows; each user, person and session counts once. Absent if no rows are omitted.',
    ),
});

const daySeconds = 86_400;
/** The default time limit of a funnel, in seconds. */
export const funnelSeconds = 30 * daySeconds;

/** Rejects a `limit` without `by`, because there are no rows to limit. */
const checkLimit = (
  { by: dimensions, limit }: { readonly by?: unknown; readonly limit?: number | undefined },
  context: z.RefinementCtx,
): void => {
  if (limit !== undefined && dimensions === undefined)
    context.addIssue({ code: 'custom', path: ['limit'], message: 'requires `by`' });
};

export const reportFunnelInput = z
  .object({
    step: field.describe(
      field
        .list(filter, limits.stepsPerFunnel)
        .refine((steps) => steps.length > 1, 'must contain at least two filters'),
      'The steps: two to eight filters as a JSON array. Each step is an event after the event of the previous step.',
      [{ event: 'Basket filled' }, { event: 'Paid' }],
    ),
    ...reportFields,
    within: field.describe(
      field.optional(field.integer(1, limits.funnelDays * daySeconds)),
      'The maximum number of seconds from the first step to the last; 30 days by default.',
      7 * daySeconds,
    ),
    per: field.describe(
      field.optional(field.oneOf(['person', 'session'])),
      'What goes through the steps: a person (the default), or a person within one session.',
      'session',
    ),
    by: field
      .optional(by)
      .describe(
        'Adds `row`: each group’s steps, with the dimensions of reportBreakdown. The first event that matches the first step determines a person’s group; with `contactTagID`, a person belongs to each tag’s group.',
      ),
    limit: field.describe(
      field.optional(field.pageLimit(limits.rowsPerBreakdown)),
      'With `by`: the maximum number of rows; `others` counts all further rows. 100 by default.',
      10,
    ),
    times: field.describe(
      field.optional(field.oneOf(['include'])),
      '`include` adds `seconds` to each step after the first: statistics of the time that it took to get there from the first step.',
      'include',
    ),
  })
  .superRefine(checkLimit);

const seconds = (description: string, example: number) =>
  field.describe(z.number().nullable(), `${description} Null if nobody reached the step.`, example);
const stepsOutput = (description: string) =>
  z
    .array(
      z.object({
        reached: output.count(
          'How many people, or sessions with `per=session`, went through this step and all steps before it.',
          45,
        ),
        seconds: z
          .object({
            average: seconds('The average.', 5_400),
            median: seconds('The median: half of them took less time.', 1_260),
            p95: seconds('The 95th percentile.', 86_400),
          })
          .optional()
          .describe(
            'With `times`, for steps after the first: the seconds from the first step until this step was first reached, counted from the latest event that could have started the sequence.',
          ),
      }),
    )
    .meta({ description, example: [{ reached: 45 }, { reached: 12 }] });

export const reportFunnelOutput = response({
  step: stepsOutput('The steps, in order.'),
  row: z
    .array(z.object({ ...group, step: stepsOutput('The steps, in order.') }))
    .optional()
    .describe('With `by`: the groups, sorted by how many people reached the first step, highest first.'),
  others: z
    .object({ groups: output.count('The number of omitted rows.', 12), step: stepsOutput('The steps, in order.') })
    .optional()
    .describe('With `by`: all omitted groups together. Absent if no groups are omitted.'),
});

export const reportRetentionInput = z
  .object({
    ...reportFields,
    first: field.describe(
      field.optionalFilter(field.orJSON(filter)),
      'What a person does first; any event by default.',
      {
        event: 'Signed up',
      },
    ),
    back: field.describe(
      field.optionalFilter(field.orJSON(filter)),
      'What counts as coming back; any event by default.',
      {
        event: 'Paid',
      },
    ),
    interval: field.describe(
      field.optional(field.oneOf(['day', 'week', 'month'])),
      'The length of the periods; `week` (from Monday) by default. The first period starts at `from`, the last one ends at `to`.',
      'week',
    ),
    by: field
      .optional(by)
      .describe(
        'Adds `row`: each group’s cohorts, with the dimensions of reportBreakdown. The first event that matches `first` determines a person’s group; with `contactTagID`, a person belongs to each tag’s group.',
      ),
    limit: field.describe(
      field.optional(field.pageLimit(limits.rowsOverTime)),
      `With \`by\`: the maximum number of rows; groups with the most people come first. ${limits.rowsOverTime} by default.`,
      10,
    ),
  })
  .superRefine(checkLimit);

const cohorts = z
  .array(
    z.object({
      from: output.isoTime('The start of the period.', '2026-11-02T00:00:00.000Z'),
      to: output.isoTime('The end of the period.', '2026-11-09T00:00:00.000Z'),
      people: output.count('People whose first event that matches `first` is in this period.', 45),
      back: z.array(output.count('People in the cohort who came back.', 12)).meta({
        description:
          'How many of these people came back after that event: in the same period, in the next one, and so on.',
        example: [12, 5],
      }),
    }),
  )
  .describe('The periods, in order, including empty ones.');

export const reportRetentionOutput = response({
  cohort: cohorts,
  row: z
    .array(z.object({ ...group, cohort: cohorts }))
    .optional()
    .describe('With `by`: the groups, largest first.'),
  others: z
    .object({ groups: output.count('The number of omitted rows.', 12) })
    .optional()
    .describe('With `by`: all omitted groups together. Absent if no groups are omitted.'),
});

const liveList = (description: string, example: string) =>
  z
    .object({
      row: z
        .array(
          z.object({
            value: field.describe(z.string().nullable(), 'A value; null for people without one.', example),
            people: output.count('People.', 12),
          }),
        )
        .describe('The values, sorted by number of people, highest first.'),
      others: output.count('People with other values.', 3),
    })
    .describe(description);

export const reportLiveInput = z.object({
  filter: reportFields.filter,
  robots: reportFields.robots,
  limit: field.describe(
    field.optional(field.integer(1, limits.rowsPerLiveList)),
    'The maximum number of rows in each list; 10 by default.',
    5,
  ),
});

export const reportLiveOutput = output.response({
  from: output.isoTime('Five minutes before the report.', '2026-11-24T11:55:00.000Z'),
  to: output.isoTime('The report’s time.', '2026-11-24T12:00:00.000Z'),
  events: measures.events,
  users: measures.users,
  people: measures.people,
  page: liveList(
    "The page that each person is on: the attribute `path` of the person's newest event that has one.",
    '/pricing',
  ),
  referrerHost: liveList(
    "Where people came from: the host in the attribute `referrer` of each person's newest event with a referrer outside `accountOrigin`.",
    'news.example',
  ),
  country: liveList("The attribute `$country` of each person's newest event that has one.", 'DE'),
  through: output.text(
    'The position up to which all events are counted. Pass it to streamEvents as `cursor` to continue with later events.',
    'ZTEuNDI',
  ),
  milliseconds: output.count('How long the report took, including time in the queue.', 6),
});
