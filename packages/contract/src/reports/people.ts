/**
 * reportPeople: the people behind a figure in a report. A request has the report's fields, and fields that select the
 * figure.
 */
import * as z from 'zod';
import { hasAtMostOneKind, twoKindsProblem } from '../event.ts';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import * as output from '../response.ts';
import { filter } from './filter.ts';
import { by, figures, measureFields, range, reportFields, reportFunnelInput, reportRetentionInput } from './report.ts';

const { compare: _, ...rangeFields } = reportFields;
const { within, per } = reportFunnelInput.shape;
const { first, back, interval } = reportRetentionInput.shape;

const groupValue = z.union(
  [field.attrValue, z.null()],
  'must be text of at most 2,048 characters, a number, true, false or null',
);

/** The fields that select a figure of each kind. */
const fieldsByKind = {
  by: ['value'],
  step: ['within', 'per', 'reached', 'dropped'],
  cohort: ['first', 'back', 'interval', 'later'],
} as const;
type Kind = keyof typeof fieldsByKind;
const kinds = Object.keys(fieldsByKind) as Kind[];

const numberFields = {
  by: field.describe(
    field.optional(by),
    'For a row of reportBreakdown or, with `step` or `cohort`, a row of reportFunnel or reportRetention: the `by` of the report.',
    'attr:product',
  ),
  value: field.describe(field.optional(field.list(groupValue, 2)), 'With `by`: the `values` of the row.', [
    'Stone teapot',
  ]),
  step: field.describe(
    field.optional(
      field
        .list(filter, limits.stepsPerFunnel)
        .refine((steps) => steps.length > 1, 'must contain at least two filters'),
    ),
    'For a figure in reportFunnel: the `step` of the report.',
    [{ event: 'Basket filled' }, { event: 'Paid' }],
  ),
  within,
  per,
  reached: field.describe(
    field.optional(field.integer(1, limits.stepsPerFunnel)),
    'With `step`: the people who reached this step. The first step is 1.',
    1,
  ),
  dropped: field.describe(
    field.optional(field.integer(1, limits.stepsPerFunnel - 1)),
    'With `step`: the people who reached this step but not the next one.',
    1,
  ),
  cohort: field.describe(
    field.optional(field.integer(1, limits.periodsPerRetention)),
    'For a figure in reportRetention: the people in this period. The first period is 1.',
    1,
  ),
  first,
  back,
  interval,
  later: field.describe(
    field.optional(field.integer(0, limits.periodsPerRetention - 1)),
    'With `cohort`: only people who came back this many periods later; 0 is the same period.',
    1,
  ),
};

export const reportPeopleInput = z
  .object({
    ...rangeFields,
    ...measureFields,
    attrID: field.describe(
      measureFields.attrID,
      'An attribute whose values are numbers, such as an amount: adds `value` to each person.',
      'amount',
    ),
    ...numberFields,
    goalID: field.describe(
      field.optional(field.goalID),
      'Only people who reached this goal in the range.',
      'g2Tn2kQwYb5rEv7uJc1Lz',
    ),
    usersAtLeast: field.describe(
      field.optional(field.integer(1, 1_000)),
      'Only people who used at least this many browsers or devices (users) in the selected events.',
      2,
    ),
    sort: field.describe(
      field.optional(field.oneOf(['lastTime', 'events', 'sum'])),
      'Sorts people in descending order by `lastTime` (the default), `events` or, with `attrID`, `sum`. With `sum`, people without a number come last.',
      'sum',
    ),
    limit: field.optional(field.pageLimit(limits.peoplePerPage)),
    cursor: field.optional(field.cursor),
  })
  .refine(hasAtMostOneKind, twoKindsProblem)
  .superRefine((input, context) => {
    const add = (name: string, message: string) => context.addIssue({ code: 'custom', path: [name], message });
    if (input.sort === 'sum' && input.attrID === undefined) add('sort', 'by `sum` requires `attrID`');
    // Funnels and retention may be grouped with `by`.
    const isGrouped = (input.step ?? input.cohort) !== undefined && input.by !== undefined;
    const [kind, other] = kinds.filter((name) => input[name] !== undefined && !(isGrouped && name === 'by'));
    if (other !== undefined) add(other, `must not be given together with \`${kind}\``);
    for (const name of kinds) {
      const misplaced = fieldsByKind[name].find((each) => input[each] !== undefined);
      if (name !== kind && misplaced !== undefined && !(isGrouped && name === 'by'))
        add(misplaced, `requires \`${name}\``);
    }
    if ((kind === 'by' || isGrouped) && input.value?.length !== input.by?.length)
      add('value', 'must have a value for each part of `by`');
    if (kind !== 'step') return;
    if ((input.reached === undefined) === (input.dropped === undefined))
      add('reached', 'or `dropped` is required with `step`, but not both');
    const steps = input.step?.length ?? 0;
    if ((input.reached ?? 0) > steps) add('reached', 'must be the number of a step');
    if ((input.dropped ?? 0) >= steps) add('dropped', 'must be the number of a step before the last');
  });

export const reportPeopleOutput = output.response({
  ...range,
  person: z
    .array(
      z.object({
        contactUUID: output.text('The contact; "" for a user without one.', 'V1StGXR8_Z5jdHi6B-myT'),
        contactExternalID: output.text('The external ID of the contact, or "".', 'customer-1042'),
        contactFirstname: output.text('The first name of the contact, or "".', 'Ann'),
        contactLastname: output.text('The last name of the contact, or "".', 'Lemon'),
        contactEmailaddress: output.text('The e-mail address of the contact, or "".', 'ann@shop.example'),
        userUUID: output.text('For a person without a contact, the user; otherwise "".', ''),
        events: output.count('How many of this person’s events were selected.', 8),
        users: output.count('How many of this person’s users logged these events.', 2),
        value: figures,
        firstTime: output.isoTime('The earliest eventTime of these events.'),
        lastTime: output.isoTime('The latest eventTime of these events.'),
      }),
    )
    .describe('The people, sorted by `sort`.'),
  nextCursor: output.text(
    'The cursor of the next page; "" on the last page. All pages count the same events, even if more are stored in the meantime.',
    '',
  ),
  timezone: output.text('The report’s time zone.', 'Europe/London'),
  through: output.text(
    'The position up to which all events are counted. Pass it to streamEvents as `cursor` to continue with later events.',
    'ZTEuNDI',
  ),
  milliseconds: output.count('How long the report took, including time in the queue.', 38),
});
