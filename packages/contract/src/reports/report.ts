/** Reports: what people did, counted over all events of a range at once. */
import * as z from 'zod';
import * as told from '../answer.ts';
import { kindFilter, oneKindAtMost, onlyOneKind } from '../event.ts';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import { filter } from './filter.ts';

/** The periods that a report can be compared with. */
export const comparisonPeriods = ['previous', 'week', 'month', 'year'] as const;
export type ComparisonPeriod = (typeof comparisonPeriods)[number];

/** The fields of every report over a range. */
export const asked = {
  from: field.described(
    field.timeOrDay,
    'Only events from this time on. A date alone is the beginning of that day in `timezone`.',
    '2026-11-01',
  ),
  to: field.described(
    field.optional(field.timeOrDay),
    'Only events before this time, as `from`; until now, if absent.',
    '2026-12-01',
  ),
  timezone: field
    .optional(field.timezone)
    .describe("Where days, weeks and months begin; the account's time zone, if absent."),
  filter: field.described(field.whose(field.orJSON(filter)), 'Only events that meet this condition.', {
    attrID: 'product',
    exists: true,
  }),
  compare: field.described(
    field.optional(field.oneOf(comparisonPeriods)),
    'Adds `earlier`: the same report over the range just before, which has as many days or, when both ends are the beginning of a month, as many months; or over the same dates a week, a month or a year earlier. Without `to`, the range just before is as many whole days earlier, and ends at the same time of day: yesterday until this time, for today.',
    'previous',
  ),
  robots: field.described(
    field.optional(field.oneOf(['include', 'exclude'])),
    '`include` counts events whose attribute `robot` is `true` too. They are left out if it is absent.',
    'include',
  ),
};

export const measured = {
  ...kindFilter,
  attrID: field.described(
    field.optional(field.attrID),
    'An attribute whose values are numbers, such as an amount: adds `value` to all counts.',
    'amount',
  ),
};

/** A figure of numbers; null where there are none. */
const figure = (description: string, example: number) => field.described(z.number().nullable(), description, example);

/** Figures of the numbers in an attribute. */
export const figures = z
  .object({
    count: told.count('Events whose attribute is a number.', 40),
    sum: figure('The sum; null when no event has a number, as in the other figures.', 1920),
    average: figure('The average.', 48),
    median: figure('The median: half of the numbers are below.', 36.5),
    p95: figure('The 95th percentile.', 120),
  })
  .optional()
  .describe('With `attrID`: figures of the numbers in that attribute.');

const measures = {
  events: told.count('Events.', 320),
  users: told.count('Distinct users, which are browsers.', 52),
  people: told.count('Distinct people: the owner of each event or, for an event without one, its user.', 45),
  sessions: told.count(
    'Sessions with such an event. A session is all events of one user in the range without a pause of 30 minutes.',
    61,
  ),
  value: figures,
};

const average = (description: string, example: number) =>
  field.described(z.number().nullable(), `${description}; null when there is no session.`, example);
/** What whole sessions are like. */
const visits = z
  .object({
    bounceRate: average(
      'The share of sessions of a single event, which is a page view: it has the attribute `path`',
      0.4,
    ),
    pages: average('Page views of a session, on average', 3.2),
    seconds: average('Seconds from the first event of a session to its last, on average', 184),
  })
  .optional()
  .describe('With `visits`: what the sessions that are counted are like, with all their events in the range.');
const askedVisits = field.described(
  field.optional(field.oneOf(['include'])),
  '`include` adds `visits` to the counts: bounce rate, pages and duration of the sessions that are counted.',
  'include',
);

export const range = {
  from: told.isoTime('The beginning of the range.', '2026-11-01T00:00:00.000Z'),
  to: told.isoTime('The end of the range; an event of this time is not in it.', '2026-12-01T00:00:00.000Z'),
};

/** The answer of a report: the counts of the range, with `compare` also those of the earlier one, and what they are about. */
const answer = <Shape extends z.ZodRawShape>(shape: Shape) =>
  told.answer({
    ...range,
    ...shape,
    earlier: z
      .object({ ...range, ...shape })
      .optional()
      .describe('With `compare`: the same for the earlier range.'),
    timezone: told.text('The time zone of the report.', 'Europe/London'),
    through: told.text(
      'The position up to which all events are counted: as its `cursor`, streamEvents continues with those stored later.',
      'ZTEuNDI',
    ),
    milliseconds: told.count('How long the report took, with the time that it waited for others.', 38),
  });

const interval = {
  from: told.isoTime('The beginning of the interval.', '2026-11-01T00:00:00.000Z'),
  to: told.isoTime('The end of the interval.', '2026-11-02T00:00:00.000Z'),
};

const intervalName = field.oneOf(['hour', 'day', 'week', 'month']);

export const reportTotalsInput = z
  .object({
    ...asked,
    ...measured,
    visits: askedVisits,
    interval: field.described(
      field.optional(intervalName),
      'Adds `interval`: the same for each hour, day, week (from Monday) or month. The first begins at `from`, the last ends at `to`.',
      'day',
    ),
  })
  .refine(oneKindAtMost, onlyOneKind);

export const reportTotalsOutput = answer({
  total: z.object({ ...measures, visits }).describe('The counts over the whole range.'),
  interval: z
    .array(z.object({ ...interval, ...measures, visits }))
    .optional()
    .describe(
      'With `interval`: the counts of each, in order, empty ones included. A user, person or session counts in each interval in which it has an event.',
    ),
});

const contactWords = ['contactProfileID', 'contactTagID'] as const;
const dimensionWords = [
  ...(['event', 'weekday', 'hour', 'entryPage', 'exitPage', 'referrerHost', 'entryReferrerHost'] as const),
  'firstReferrerHost',
  ...contactWords,
] as const;
/** Before an attrID: the attribute of the event itself, or of the first or last event of its session, or the first ever of its person, that has it. */
const attributePrefixes = ['attr:', 'first:', 'last:', 'person:first:'] as const;
type AttributePrefix = (typeof attributePrefixes)[number];
/** What a breakdown is by: a word, or an attribute as a prefix and its attrID. */
export type DimensionText = (typeof dimensionWords)[number] | `${AttributePrefix}${string}`;

/** A dimension of the contact that owns an event. */
export type ContactWord = (typeof contactWords)[number];
export const isContactWord = (dimension: DimensionText): dimension is ContactWord =>
  (contactWords as readonly string[]).includes(dimension);

/** The prefix and the attrID of a dimension; undefined for a word. */
export const attributeIn = (dimension: string): { prefix: AttributePrefix; attrID: string } | undefined => {
  const prefix = attributePrefixes.find((each) => dimension.startsWith(each));
  return prefix && { prefix, attrID: dimension.slice(prefix.length) };
};

const isDimension = (text: unknown): text is DimensionText => {
  if (typeof text !== 'string') return false;
  const attribute = attributeIn(text);
  if (attribute) return field.attrID.safeParse(attribute.attrID).success;
  return (dimensionWords as readonly string[]).includes(text);
};

const dimensionForm = `must be one or two of ${dimensionWords.join(', ')} and attr:<attrID>, first:<attrID>, last:<attrID>, person:first:<attrID>, separated by a comma`;
export const by = field
  .commaSeparated<DimensionText[], DimensionText>(
    z
      .array(z.custom<DimensionText>(isDimension, dimensionForm), field.says(dimensionForm))
      .min(1, dimensionForm)
      .max(2, dimensionForm)
      .refine(([first, second]) => first !== second, 'must not name the same twice'),
  )
  .meta({
    description:
      'What to count apart: one or two, separated by a comma. `attr:plan` is the attribute `plan`. `first:utm_campaign` and `last:utm_campaign` are that attribute of the first and last event with one in the session. `person:first:utm_campaign` is that attribute of the first event ever with one of the person, across browsers and in the range or not. `weekday` (`1`, Monday, to `7`) and `hour` (`0` to `23`) are by the clocks of `timezone`. `entryPage` and `exitPage` are `first:path` and `last:path`. `referrerHost` is the host in the attribute `referrer`, `entryReferrerHost` that in `first:referrer`, and `firstReferrerHost` that in `person:first:referrer`; all are null for hosts of `accountOrigin` and of the visitor’s own machine. `contactProfileID` is the present profile of the owner, and `contactTagID` each present tag: such an event counts in the row of each. Both are null for events of nobody, and where no listed one is.',
    example: 'attr:product',
    sent: { type: 'string' },
  });

export const reportBreakdownInput = z
  .object({
    by,
    ...asked,
    ...measured,
    sort: field.described(
      field.optional(field.oneOf(['events', 'users', 'people', 'sessions'])),
      'The count by which rows are sorted, greatest first; `people` if absent.',
      'events',
    ),
    limit: field.described(
      field.optional(field.pageLimit(limits.rowsPerBreakdown)),
      `The most rows; \`others\` counts the events of all further ones. 100 if absent; with \`interval\` 5 if absent, and at most ${limits.rowsOverTime}.`,
      10,
    ),
    visits: askedVisits,
    interval: field.described(
      field.optional(intervalName),
      'Adds `interval` to each row: its counts for each hour, day, week (from Monday) or month.',
      'day',
    ),
    conversion: field.described(
      field.optional(field.oneOf(['include'])),
      '`include` adds `among` to `total` and to rows: how many people have any event that meets `filter`, of whatever kind. Groups that have other events only are rows of zeros after all others, as far as `limit` allows. For a request with `eventID` or `eventName`.',
      'include',
    ),
  })
  .refine(oneKindAtMost, onlyOneKind)
  .superRefine(({ interval: ofRows, limit, conversion, eventID, eventName }, context) => {
    const add = (name: string, message: string) => context.addIssue({ code: 'custom', path: [name], message });
    if (ofRows !== undefined && (limit ?? 0) > limits.rowsOverTime)
      add('limit', `must be at most ${limits.rowsOverTime} with \`interval\``);
    if (conversion !== undefined && (eventID ?? eventName) === undefined)
      add('conversion', 'is for a request with `eventID` or `eventName`');
  });

const group = {
  values: z
    .array(field.described(z.string().nullable(), 'A value; null for events without one.', 'Stone teapot'))
    .describe('The values of the row, in the order of `by`; an eventID for `event`.'),
  eventName: told.text('With `by=event`: the present name of that kind of event.', 'Basket filled').optional(),
};

const among = told
  .count('With `conversion`: people with any event that meets `filter`, of whatever kind.', 120)
  .optional();

export const reportBreakdownOutput = answer({
  total: z.object({ ...measures, visits, among }).describe('The counts over the whole range.'),
  row: z
    .array(
      z.object({
        ...group,
        ...measures,
        visits,
        among,
        interval: z
          .array(z.object({ ...interval, ...measures }))
          .optional()
          .describe('With `interval`: the counts of each, in order, empty ones included.'),
      }),
    )
    .describe('The rows, sorted.'),
  others: z
    .object({ groups: told.count('The number of rows left out.', 12), ...measures })
    .optional()
    .describe(
      'The counts of all events that are in no row, each user, person and session once; absent if there are none.',
    ),
});

const daySeconds = 86_400;
/** The seconds in which a funnel is gone through, if a request does not say. */
export const funnelSeconds = 30 * daySeconds;

/** Refuses a `limit` without the rows that it is about. */
const onlyWithBy = (
  { by: groups, limit }: { readonly by?: unknown; readonly limit?: number | undefined },
  context: z.RefinementCtx,
): void => {
  if (limit !== undefined && groups === undefined)
    context.addIssue({ code: 'custom', path: ['limit'], message: 'is for a request with `by`' });
};

export const reportFunnelInput = z
  .object({
    step: field.described(
      field.list(filter, limits.stepsPerFunnel).refine((steps) => steps.length > 1, 'must hold at least two filters'),
      'The steps: two to eight filters as a JSON array. Each step is an event after that of the step before.',
      [{ event: 'Basket filled' }, { event: 'Paid' }],
    ),
    ...asked,
    within: field.described(
      field.optional(field.integer(1, limits.funnelDays * daySeconds)),
      'The seconds from the first step to the last, at most; 30 days if absent.',
      7 * daySeconds,
    ),
    per: field.described(
      field.optional(field.oneOf(['person', 'session'])),
      'What goes through the steps: a person (if absent), or a person within one session.',
      'session',
    ),
    by: field
      .optional(by)
      .describe(
        'Adds `row`: the steps of each group, as reportBreakdown counts apart. A person belongs to the group of its first event that meets the first step; with `contactTagID`, to that of each tag.',
      ),
    limit: field.described(
      field.optional(field.pageLimit(limits.rowsPerBreakdown)),
      'With `by`: the most rows; `others` counts all further ones. 100 if absent.',
      10,
    ),
    times: field.described(
      field.optional(field.oneOf(['include'])),
      '`include` adds `seconds` to each step after the first: how long those who reached it took to it from the first step.',
      'include',
    ),
  })
  .superRefine(onlyWithBy);

const seconds = (description: string, example: number) =>
  field.described(z.number().nullable(), `${description} Null when nobody reached the step.`, example);
const reachedSteps = (description: string) =>
  z
    .array(
      z.object({
        reached: told.count(
          'How many went through this step, and through all before it: people, or sessions with `per=session`.',
          45,
        ),
        seconds: z
          .object({
            average: seconds('The average.', 5_400),
            median: seconds('The median: half of them took less.', 1_260),
            p95: seconds('The 95th percentile.', 86_400),
          })
          .optional()
          .describe(
            'With `times`, of steps after the first: the seconds from the first step to this one, the first time that it was reached; from the latest event with which the steps can have begun.',
          ),
      }),
    )
    .meta({ description, example: [{ reached: 45 }, { reached: 12 }] });

export const reportFunnelOutput = answer({
  step: reachedSteps('The steps, in order.'),
  row: z
    .array(z.object({ ...group, step: reachedSteps('The steps, in order.') }))
    .optional()
    .describe('With `by`: the groups, those that most reached the first step in first.'),
  others: z
    .object({ groups: told.count('The number of rows left out.', 12), step: reachedSteps('The steps, in order.') })
    .optional()
    .describe('With `by`: those in no row; absent if there are none.'),
});

export const reportRetentionInput = z
  .object({
    ...asked,
    first: field.described(field.whose(field.orJSON(filter)), 'What a person does first; any event, if absent.', {
      event: 'Signed up',
    }),
    back: field.described(field.whose(field.orJSON(filter)), 'What counts as coming back; any event, if absent.', {
      event: 'Paid',
    }),
    interval: field.described(
      field.optional(field.oneOf(['day', 'week', 'month'])),
      'The length of the periods; `week` (from Monday), if absent. The first begins at `from`, the last ends at `to`.',
      'week',
    ),
    by: field
      .optional(by)
      .describe(
        'Adds `row`: the cohorts of each group, as reportBreakdown counts apart. A person belongs to the group of its first event that meets `first`; with `contactTagID`, to that of each tag.',
      ),
    limit: field.described(
      field.optional(field.pageLimit(limits.rowsOverTime)),
      `With \`by\`: the most rows, those of most people first. ${limits.rowsOverTime} if absent.`,
      10,
    ),
  })
  .superRefine(onlyWithBy);

const cohorts = z
  .array(
    z.object({
      from: told.isoTime('The beginning of the period.', '2026-11-02T00:00:00.000Z'),
      to: told.isoTime('The end of the period.', '2026-11-09T00:00:00.000Z'),
      people: told.count('People whose first event that meets `first` is in this period.', 45),
      back: z.array(told.count('People of the cohort who came back.', 12)).meta({
        description: 'How many of them came back after that event: in this period, in the next one, and so on.',
        example: [12, 5],
      }),
    }),
  )
  .describe('The periods, in order, empty ones included.');

export const reportRetentionOutput = answer({
  cohort: cohorts,
  row: z
    .array(z.object({ ...group, cohort: cohorts }))
    .optional()
    .describe('With `by`: the groups, those of most people first.'),
  others: z
    .object({ groups: told.count('The number of rows left out.', 12) })
    .optional()
    .describe('With `by`: the groups in no row; absent if there are none.'),
});

const liveList = (description: string, example: string) =>
  z
    .object({
      row: z
        .array(
          z.object({
            value: field.described(z.string().nullable(), 'A value; null for people without one.', example),
            people: told.count('People.', 12),
          }),
        )
        .describe('The values of most people first.'),
      others: told.count('People with other values.', 3),
    })
    .describe(description);

export const reportLiveInput = z.object({
  filter: asked.filter,
  robots: asked.robots,
  limit: field.described(
    field.optional(field.integer(1, limits.rowsPerLiveList)),
    'The most rows of each list; 10 if absent.',
    5,
  ),
});

export const reportLiveOutput = told.answer({
  from: told.isoTime('Five minutes before the report.', '2026-11-24T11:55:00.000Z'),
  to: told.isoTime('The time of the report.', '2026-11-24T12:00:00.000Z'),
  events: measures.events,
  users: measures.users,
  people: measures.people,
  page: liveList('Where people are: the attribute `path` of the newest event with one of each.', '/pricing'),
  referrerHost: liveList(
    'Where people came from: the host in the attribute `referrer` of the newest event of each that names another site than those in `accountOrigin`.',
    'news.example',
  ),
  country: liveList('The attribute `$country` of the newest event with one of each.', 'DE'),
  through: told.text(
    'The position up to which all events are counted: as its `cursor`, streamEvents continues with those stored later.',
    'ZTEuNDI',
  ),
  milliseconds: told.count('How long the report took, with the time that it waited for others.', 6),
});
