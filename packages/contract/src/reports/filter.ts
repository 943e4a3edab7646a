/**
 * Report filters: a closed grammar of conditions on an event. Each object is one condition: `{"and": […]}`, `{"or":
 * […]}`, `{"not": …}`, `{"event": …}`, `{"contact": …}`, `{"did": …}`, `{"segment": …}`, or a comparison: `{"attrID":
 * "plan", "is": "pro"}`, or `{"personFirst": "utm_campaign", "is": "spring"}` for the person's first event ever with
 * the attribute.
 */
import * as z from 'zod';
import { searchContactInput } from '../contact.ts';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import { nearestName } from '../near-miss.ts';

const { contactProfileID, contactTagID, contactStatus, attrID, attrValue, createdFrom, createdTo, seenFrom, seenTo } =
  searchContactInput.shape;
const contactFields = { contactProfileID, contactTagID, contactStatus, attrID, attrValue };
const contactTimes = { createdFrom, createdTo, seenFrom, seenTo };
const contactMembers = { ...contactFields, ...contactTimes };

/** An object that allows only these members. */
const objectOf = <Members extends z.ZodRawShape>(members: Members) =>
  z.strictObject(members, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has \`${(issue as { keys: string[] }).keys[0]?.slice(0, limits.attrIDLength)}\`; it takes ${Object.keys(members).join(', ')}`
        : field.errorMessage('must be a JSON object', 'object').error(issue),
  });

/** The filters of searchContact. All of them must match; if there are none, every contact matches. */
const contactFilter = objectOf(contactMembers).refine(field.isAttributePair, field.attributePairProblem);
export type ContactFilter = z.output<typeof contactFilter>;

/** Matches if at least `atLeast` (by default 1) and at most `atMost` events match the other members. */
interface EventCount<Kinds, Inner> {
  readonly event?: Kinds | undefined;
  readonly filter?: Inner | undefined;
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
  /** In the last `withinDays` 24-hour periods before the request. */
  readonly withinDays?: number | undefined;
}
interface Did<Segment> extends EventCount<readonly (number | string)[], Filter<Segment>> {
  /** Milliseconds since 1970: from ≤ eventTime < to. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/**
 * A checked condition. It has exactly one of and, or, not, event, contact, did, segment, attrID and personFirst; the
 * last two come with exactly one comparison. Only a `Filter<string>` may have `segment`.
 */
export interface Filter<Segment = never> {
  readonly and?: readonly Filter<Segment>[] | undefined;
  readonly or?: readonly Filter<Segment>[] | undefined;
  readonly not?: Filter<Segment> | undefined;
  /** eventIDs, or names as in `eventName` of countEvents. */
  readonly event?: readonly (number | string)[] | undefined;
  /** The event's owner is a contact that matches these fields of searchContact. */
  readonly contact?: ContactFilter | undefined;
  /** The event's person did this, inside or outside the report's range. */
  readonly did?: Did<Segment> | undefined;
  /** The filter saved under this name. */
  readonly segment?: Segment | undefined;
  readonly attrID?: string | undefined;
  /** Like attrID, but with the value in the person's first event ever that has the attribute. */
  readonly personFirst?: string | undefined;
  readonly is?: readonly string[] | undefined;
  readonly isNot?: readonly string[] | undefined;
  readonly contains?: string | undefined;
  /** A pattern, in which `*` stands for any text. */
  readonly matches?: string | undefined;
  readonly exists?: boolean | undefined;
  readonly lessThan?: number | undefined;
  readonly greaterThan?: number | undefined;
}

type Value = string | number | boolean;
type SentKinds = number | string | readonly (number | string)[];
type SentTime = z.input<typeof field.time>;

interface SentDid extends EventCount<SentKinds, SentFilter> {
  readonly from?: SentTime | undefined;
  readonly to?: SentTime | undefined;
}

/** A condition as a client may send it: a single value may replace a list of one. */
export interface SentFilter
  extends Omit<Filter<string>, 'and' | 'or' | 'not' | 'event' | 'contact' | 'did' | 'is' | 'isNot'> {
  readonly and?: readonly SentFilter[] | undefined;
  readonly or?: readonly SentFilter[] | undefined;
  readonly not?: SentFilter | undefined;
  readonly event?: SentKinds | undefined;
  readonly contact?: z.input<typeof contactFilter> | undefined;
  readonly did?: SentDid | undefined;
  readonly is?: Value | readonly Value[] | undefined;
  readonly isNot?: Value | readonly Value[] | undefined;
}

const conditionNames = ['and', 'or', 'not', 'event', 'contact', 'did', 'segment', 'attrID', 'personFirst'] as const;
const comparisonNames = ['is', 'isNot', 'contains', 'matches', 'exists', 'lessThan', 'greaterThan'] as const;

const inner: z.ZodType<Filter<string>, SentFilter> = z.lazy(() => condition);

const filterList = (description: string) =>
  field
    .describe(
      z
        .array(inner, field.errorMessage('must be a list of filters', 'list'))
        .min(1, 'must contain at least one filter')
        .max(limits.conditionsPerFilter, `must contain at most ${limits.conditionsPerFilter} filters`),
      description,
    )
    .optional();

/** One value, or a list of at most `limits.valuesPerCondition`. `sent` is the JSON Schema of a value. */
const oneOrMore = <Out, In>(value: z.ZodType<Out, In>, sent: object, description: string, example: unknown) => {
  const list = z
    .array(value)
    .min(1, 'must contain at least one value')
    .max(limits.valuesPerCondition, `must contain at most ${limits.valuesPerCondition} values`);
  const one = value.transform((single) => [single]);
  const schema = z
    .unknown()
    .transform((input, context): Out[] => {
      const { data, error } = (Array.isArray(input) ? list : one).safeParse(input);
      for (const { path, message } of error?.issues ?? []) context.addIssue({ code: 'custom', path, message });
      return data ?? z.NEVER;
    })
    .meta({
      description,
      example,
      sent: { anyOf: [sent, { type: 'array', items: sent, minItems: 1, maxItems: limits.valuesPerCondition }] },
    });
  return (schema as unknown as z.ZodType<Out[], In | readonly In[]>).optional();
};

const sentValue = {
  anyOf: [{ type: 'string', maxLength: limits.attrValueLength }, { type: 'number' }, { type: 'boolean' }],
};
const values = (description: string) => oneOrMore(field.attrValue, sentValue, description, 'Stone teapot');

const eventForm = `must be an eventID from 1 to ${limits.eventIDMax}, or a name of at most ${limits.nameLength} characters`;
const eventKind = z.union(
  [
    z.number(eventForm).int(eventForm).min(1, eventForm).max(limits.eventIDMax, eventForm),
    z.string(eventForm).min(1, eventForm).max(limits.nameLength, eventForm).refine(field.isStorable, eventForm),
  ],
  eventForm,
);
const sentKind = {
  anyOf: [
    { type: 'integer', minimum: 1, maximum: limits.eventIDMax },
    { type: 'string', minLength: 1, maxLength: limits.nameLength },
  ],
};

const eventKinds = (description: string) => oneOrMore(eventKind, sentKind, description, 'Basket filled');
const listedNames = 'an eventID, the current name of a listed kind, an unlisted name, or a list of these.';

const wholeNumber = (min: number, max: number, description: string, example: number) => {
  const form = `must be a whole number from ${min} to ${max}`;
  const schema = z.number(field.errorMessage(form)).int(form).min(min, form).max(max, form);
  return field.describe(schema.optional(), description, example);
};

/** What a person did. Without members, it matches any event. */
const did: z.ZodType<Did<string>, SentDid> = objectOf({
  event: eventKinds(`Events of this kind: ${listedNames}`),
  filter: inner.optional().meta({ description: 'Events that match this filter, which must not contain a `did`.' }),
  atLeast: wholeNumber(1, limits.didTimes, 'The minimum number of such events; 1 by default.', 3),
  atMost: wholeNumber(1, limits.didTimes, 'The maximum number of such events.', 9),
  withinDays: wholeNumber(
    1,
    limits.didDays,
    'Events within this many days (of 24 hours) before the request; an alternative to `from` and `to`.',
    30,
  ),
  from: field.describe(field.time.optional(), 'Events at or after this time.', '2026-10-01T00:00:00Z'),
  to: field.describe(field.time.optional(), 'Events before this time.', '2026-11-01T00:00:00Z'),
}).superRefine(({ atLeast = 1, atMost, withinDays, from, to }, context) => {
  const add = (name: string, message: string) => context.addIssue({ code: 'custom', path: [name], message });
  if (atMost !== undefined && atMost < atLeast) add('atMost', `must not be less than \`atLeast\` (${atLeast})`);
  if (withinDays !== undefined && (from ?? to) !== undefined)
    add('withinDays', 'must not be combined with `from` or `to`');
  if (from !== undefined && to !== undefined && to <= from) add('to', 'must be later than `from`');
});

const patternForm = `must be text of at most ${limits.nameLength} characters with at most ${limits.wildcardsPerPattern} *`;
/** A pattern that a whole value matches; `*` stands for any text. */
export const pattern = field
  .filledText(limits.nameLength)
  .refine((text) => text.split('*').length - 1 <= limits.wildcardsPerPattern, patternForm);

const number = (description: string) =>
  field
    .describe(z.number(field.errorMessage('must be a number that a 64-bit float represents exactly')), description, 20)
    .optional();

/** The message for unknown members of a condition. */
const unknownMembers = (keys: readonly string[]): string => {
  const [unknown = ''] = keys;
  const nearest = nearestName(unknown, [...conditionNames, ...comparisonNames]);
  const suggestion =
    nearest === undefined ? `a filter has ${conditionNames.join(', ')}` : `did you mean \`${nearest}\`?`;
  return `has \`${unknown.slice(0, limits.attrIDLength)}\`, which no filter has; ${suggestion}`;
};

const notAnObject = field.errorMessage('must be a JSON object', 'object');

/** One condition. `filter` checks its depth and how many conditions it has. */
export const condition = z
  .strictObject(
    {
      and: filterList('All of these filters match.'),
      or: filterList('At least one of these filters matches.'),
      not: inner.optional().meta({ description: 'This filter does not match.' }),
      event: eventKinds(`The event is of this kind: ${listedNames}`),
      contact: field.describe(
        contactFilter.optional(),
        'The person is currently a contact that matches all of these, as in searchContact; `{}` matches any contact.',
        { contactTagID: 'vip' },
      ),
      did: field.describe(
        did.optional(),
        "The person has events like these, inside or outside the report's range; events from bots count only if the report includes them. `{}` matches any event.",
        { event: 'Paid', atLeast: 2, withinDays: 30 },
      ),
      segment: field.describe(field.segmentName.optional(), 'The filter saved under this name matches.'),
      attrID: field.describe(field.attrID.optional(), 'The attribute to compare; requires one comparison.'),
      personFirst: field.describe(
        field.attrID.optional(),
        "The attribute to compare, taken from the person's first event ever that has it, across browsers and inside or outside the report's range; requires one comparison.",
        'utm_campaign',
      ),
      is: values('The attribute has exactly this value, or one of these, compared as text.'),
      isNot: values(
        'The attribute has none of these values, or the event does not have the attribute: the same as `not` with `is`.',
      ),
      contains: field.describe(
        field.text(limits.attrValueLength).min(1, 'must not be empty').optional(),
        'The value contains this text, case-sensitive.',
        'teapot',
      ),
      matches: field.describe(
        pattern.optional(),
        `The whole value matches this pattern, in which \`*\` stands for any text, case-sensitive. At most ${limits.wildcardsPerPattern} \`*\`.`,
        '/blog/*',
      ),
      exists: field.describe(
        z.boolean(field.errorMessage('must be true or false')).optional(),
        'Whether the event has the attribute.',
        true,
      ),
      lessThan: number('The value is a number less than this one.'),
      greaterThan: number('The value is a number greater than this one.'),
    },
    {
      error: (issue) =>
        issue.code === 'unrecognized_keys'
          ? unknownMembers((issue as { keys: string[] }).keys)
          : notAnObject.error(issue),
    },
  )
  .superRefine((given, context) => {
    const form = conditionNames.filter((name) => given[name] !== undefined);
    const compared = comparisonNames.filter((name) => given[name] !== undefined);
    const add = (message: string, ...path: string[]) => context.addIssue({ code: 'custom', message, path });
    const isCompared = form[0] === 'attrID' || form[0] === 'personFirst';
    if (form.length === 0 && compared.length > 0) add(`${field.required} with \`${compared[0]}\``, 'attrID');
    else if (form.length !== 1) add(`must have exactly one of ${conditionNames.join(', ')}`);
    else if (isCompared && compared.length !== 1)
      add(`must have exactly one of ${comparisonNames.join(', ')} with \`${form[0]}\``);
    else if (!isCompared && compared.length > 0)
      add(`has \`${compared[0]}\` with \`${form[0]}\`; it belongs with \`attrID\` or \`personFirst\``);
  });

type Path = readonly PropertyKey[];

/** The filters directly inside a filter, each with its path. */
export const partsOf = <Segment>({
  and = [],
  or = [],
  not,
  did: { filter: didFilter } = {},
}: Filter<Segment>): (readonly [Filter<Segment>, ...PropertyKey[]])[] => [
  ...and.map((part, index) => [part, 'and', index] as const),
  ...or.map((part, index) => [part, 'or', index] as const),
  ...(not ? [[not, 'not'] as const] : []),
  ...(didFilter ? [[didFilter, 'did', 'filter'] as const] : []),
];

/**
 * Reports excessive nesting, a `did` within another, and too many conditions. A segment for which `findSaved` returns a
 * filter counts as that filter. If that filter exceeds a limit, the problem is reported at the segment's path.
 */
export const checkSize = (
  filter: Filter<string>,
  add: (path: Path, message: string) => void,
  findSaved: (segment: string) => Filter | undefined = () => undefined,
): void => {
  let conditions = 0;
  let dids = 0;
  const visit = (at: Filter<string>, path: Path, depth: number, isWithinDid: boolean, segment?: Path): void => {
    const report = (message: string, ofSegment: string, ...names: string[]) =>
      segment ? add(segment, ofSegment) : add([...path, ...names], message);
    const saved = at.segment === undefined ? undefined : findSaved(at.segment);
    if (saved) {
      visit(saved, path, depth, isWithinDid, [...path, 'segment']);
      return;
    }
    if (depth > limits.filterDepth) {
      const excess = `more than ${limits.filterDepth} levels deep`;
      report(`is nested ${excess}`, `makes the filter ${excess}`);
      return;
    }
    conditions += 1;
    if (conditions === limits.conditionsPerFilter + 1) {
      const max = limits.conditionsPerFilter;
      report(
        `is one condition too many: a filter has at most ${max}`,
        `makes the filter contain more than ${max} conditions`,
      );
    }
    if (at.did) {
      dids += 1;
      const max = limits.didsPerFilter;
      const within = 'must not be within another `did`';
      if (isWithinDid) report(within, `contains a \`did\`, which ${within}`, 'did');
      else if (dids === max + 1)
        report(
          `is one too many: a filter has at most ${max}`,
          `makes the filter contain more than ${max} \`did\``,
          'did',
        );
    }
    for (const [part, ...names] of partsOf(at))
      visit(part, [...path, ...names], depth + 1, isWithinDid || !!at.did, segment);
  };
  visit(filter, [], 1, false);
};

/** A filter: a condition of bounded depth and size. */
export const filter: z.ZodType<Filter<string>, SentFilter> = condition.superRefine((given, context) => {
  checkSize(given, (path, message) => context.addIssue({ code: 'custom', message, path: [...path] }));
});
