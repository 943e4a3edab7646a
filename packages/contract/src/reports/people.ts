/** reportPeople: who is behind a number of a report. It takes the fields of that report, and which of its numbers is meant. */
import * as z from 'zod';
import * as told from '../answer.ts';
import { oneKindAtMost, onlyOneKind } from '../event.ts';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import { filter } from './filter.ts';
import { asked, by, figures, measured, range, reportFunnelInput, reportRetentionInput } from './report.ts';

const { compare: _, ...ofRange } = asked;
const { within, per } = reportFunnelInput.shape;
const { first, back, interval } = reportRetentionInput.shape;

const groupValue = z.union(
  [field.attrValue, z.null()],
  'must be a text of at most 2,048 characters, a number, true, false or null',
);

/** The fields that belong to each kind of number, beside the one that names it. */
const beside = {
  by: ['value'],
  step: ['within', 'per', 'reached', 'dropped'],
  cohort: ['first', 'back', 'interval', 'later'],
} as const;
type Kind = keyof typeof beside;
const kinds = Object.keys(beside) as Kind[];

const given = {
  by: field.described(
    field.optional(by),
    'For a row of reportBreakdown, or with `step` of reportFunnel, or with `cohort` of reportRetention: its `by`.',
    'attr:product',
  ),
  value: field.described(field.optional(field.list(groupValue, 2)), 'With `by`: the `values` of the row.', [
    'Stone teapot',
  ]),
  step: field.described(
    field.optional(
      field.list(filter, limits.stepsPerFunnel).refine((steps) => steps.length > 1, 'must hold at least two filters'),
    ),
    'For a number of reportFunnel: its `step`.',
    [{ event: 'Basket filled' }, { event: 'Paid' }],
  ),
  within,
  per,
  reached: field.described(
    field.optional(field.integer(1, limits.stepsPerFunnel)),
    'With `step`: the people who reached this step. The first step is 1.',
    1,
  ),
  dropped: field.described(
    field.optional(field.integer(1, limits.stepsPerFunnel - 1)),
    'With `step`: the people who reached this step and not the next one.',
    1,
  ),
  cohort: field.described(
    field.optional(field.integer(1, limits.periodsPerRetention)),
    'For a number of reportRetention: the people of this period. The first period is 1.',
    1,
  ),
  first,
  back,
  interval,
  later: field.described(
    field.optional(field.integer(0, limits.periodsPerRetention - 1)),
    'With `cohort`: only those of them who came back so many periods later; 0 is the same period.',
    1,
  ),
};

export const reportPeopleInput = z
  .object({
    ...ofRange,
    ...measured,
    attrID: field.described(
      measured.attrID,
      'An attribute whose values are numbers, such as an amount: adds `value` to each person.',
      'amount',
    ),
    ...given,
    usersAtLeast: field.described(
      field.optional(field.integer(1, 1_000)),
      'Only people with so many users at least, such as two phones, among the events that are meant.',
      2,
    ),
    sort: field.described(
      field.optional(field.oneOf(['lastTime', 'events', 'sum'])),
      'The newest last event first (if absent), the most events first, or with `attrID` the greatest sum first, people without a number last.',
      'sum',
    ),
    limit: field.optional(field.pageLimit(limits.peoplePerPage)),
    cursor: field.optional(field.cursor),
  })
  .refine(oneKindAtMost, onlyOneKind)
  .superRefine((input, context) => {
    const add = (name: string, message: string) => context.addIssue({ code: 'custom', path: [name], message });
    if (input.sort === 'sum' && input.attrID === undefined) add('sort', 'by `sum` is for a request with `attrID`');
    // Funnels and retention may have groups.
    const ofGroup = (input.step ?? input.cohort) !== undefined && input.by !== undefined;
    const [kind, other] = kinds.filter((name) => input[name] !== undefined && !(ofGroup && name === 'by'));
    if (other !== undefined) add(other, `must not be given together with \`${kind}\``);
    for (const name of kinds) {
      const alone = beside[name].find((each) => input[each] !== undefined);
      if (name !== kind && alone !== undefined && !(ofGroup && name === 'by'))
        add(alone, `is for a request with \`${name}\``);
    }
    if ((kind === 'by' || ofGroup) && input.value?.length !== input.by?.length)
      add('value', 'must have a value for each part of `by`');
    if (kind !== 'step') return;
    if ((input.reached === undefined) === (input.dropped === undefined))
      add('reached', 'or `dropped` is required with `step`, and not both');
    const steps = input.step?.length ?? 0;
    if ((input.reached ?? 0) > steps) add('reached', 'must be one of the steps');
    if ((input.dropped ?? 0) >= steps) add('dropped', 'must be a step before the last');
  });

export const reportPeopleOutput = told.answer({
  ...range,
  person: z
    .array(
      z.object({
        contactUUID: told.text('The contact; "" for a user without one.', 'V1StGXR8_Z5jdHi6B-myT'),
        contactExternalID: told.text('Its external ID, or "".', 'customer-1042'),
        contactFirstname: told.text('Its first name, or "".', 'Ann'),
        contactLastname: told.text('Its last name, or "".', 'Lemon'),
        contactEmailaddress: told.text('Its e-mail address, or "".', 'ann@shop.example'),
        userUUID: told.text('The user without a contact, or "".', ''),
        events: told.count('Events of this person that are meant.', 8),
        users: told.count('Users of this person among them.', 2),
        value: figures,
        firstTime: told.isoTime('The eventTime of the first of them.'),
        lastTime: told.isoTime('The eventTime of the last of them.'),
      }),
    )
    .describe('The people, in the order of `sort`.'),
  nextCursor: told.text(
    'The cursor of the next page; "" on the last one. Further pages count the same events, whatever is stored meanwhile.',
    '',
  ),
  timezone: told.text('The time zone of the report.', 'Europe/London'),
  through: told.text(
    'The position up to which all events are counted: as its `cursor`, streamEvents continues with those stored later.',
    'ZTEuNDI',
  ),
  milliseconds: told.count('How long the report took, with the time that it waited for others.', 38),
});
