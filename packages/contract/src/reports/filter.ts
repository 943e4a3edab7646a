/**
 * The filters of reports: a closed grammar of conditions on an event. Each object is one condition, `{"and": […]}`, `{"or": […]}`,
 * `{"not": …}`, `{"event": …}`, `{"contact": …}`, `{"did": …}`, `{"segment": …}`, or an attrID with one comparison:
 * `{"attrID": "plan", "is": "pro"}`, or that of the person's first event ever with it: `{"personFirst": "utm_campaign", "is": "spring"}`.
 */
import * as z from 'zod';
import { searchContactInput } from '../contact.ts';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import { nearestName } from '../near-miss.ts';

const { contactProfileID, contactTagID, contactStatus, attrID, attrValue, createdFrom, createdTo, seenFrom, seenTo } =
  searchContactInput.shape;
const ofContact = { contactProfileID, contactTagID, contactStatus, attrID, attrValue };
const ofContactTimes = { createdFrom, createdTo, seenFrom, seenTo };
const contactMembers = { ...ofContact, ...ofContactTimes };

/** An object of these members alone. */
const objectOf = <Members extends z.ZodRawShape>(members: Members) =>
  z.strictObject(members, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has \`${(issue as { keys: string[] }).keys[0]?.slice(0, limits.attrIDLength)}\`; it takes ${Object.keys(members).join(', ')}`
        : field.says('must be a JSON object', 'object').error(issue),
  });

/** The members that a search for contacts filters by; all of them hold. None: any contact. */
const contactFilter = objectOf(contactMembers).refine(field.isAttributePair, field.attributePairProblem);
export type ContactFilter = z.output<typeof contactFilter>;

/** What somebody did: at least `atLeast` (1 if absent) and at most `atMost` events that all the others hold for. */
interface Deeds<Kinds, Inner> {
  readonly event?: Kinds | undefined;
  readonly filter?: Inner | undefined;
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
  /** In the last so many days of 24 hours, up to when the report is asked. */
  readonly withinDays?: number | undefined;
}
interface Did<Segment> extends Deeds<readonly (number | string)[], Filter<Segment>> {
  /** Milliseconds since 1970: from ≤ eventTime < to. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/**
 * A checked condition. Exactly one of and, or, not, event, contact, did, segment, attrID and personFirst is there; beside the last two
 * exactly one comparison. Only a filter that may name segments, a `Filter<string>`, has `segment`.
 */
export interface Filter<Segment = never> {
  readonly and?: readonly Filter<Segment>[] | undefined;
  readonly or?: readonly Filter<Segment>[] | undefined;
  readonly not?: Filter<Segment> | undefined;
  /** eventIDs, and names as `eventName` of countEvents. */
  readonly event?: readonly (number | string)[] | undefined;
  /** The event's owner is a contact that a search with these finds. */
  readonly contact?: ContactFilter | undefined;
  /** The event's person did this, in the range of the report or not. */
  readonly did?: Did<Segment> | undefined;
  /** The filter that is saved under this name. */
  readonly segment?: Segment | undefined;
  readonly attrID?: string | undefined;
  /** An attrID too: compared is its value in the first event ever of the event's person that has it. */
  readonly personFirst?: string | undefined;
  readonly is?: readonly string[] | undefined;
  readonly isNot?: readonly string[] | undefined;
  readonly contains?: string | undefined;
  readonly exists?: boolean | undefined;
  readonly lessThan?: number | undefined;
  readonly greaterThan?: number | undefined;
}

type Value = string | number | boolean;
type SentKinds = number | string | readonly (number | string)[];
type SentTime = z.input<typeof field.time>;

interface SentDid extends Deeds<SentKinds, SentFilter> {
  readonly from?: SentTime | undefined;
  readonly to?: SentTime | undefined;
}

/** A condition as a client may send it: a value in place of a list of one. */
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

const forms = ['and', 'or', 'not', 'event', 'contact', 'did', 'segment', 'attrID', 'personFirst'] as const;
const comparisons = ['is', 'isNot', 'contains', 'exists', 'lessThan', 'greaterThan'] as const;

const inner: z.ZodType<Filter<string>, SentFilter> = z.lazy(() => condition);

const several = (description: string) =>
  field
    .described(
      z
        .array(inner, field.says('must be a list of filters', 'list'))
        .min(1, 'must hold at least one filter')
        .max(limits.conditionsPerFilter, `must hold at most ${limits.conditionsPerFilter} filters`),
      description,
    )
    .optional();

/** One value, or a list of at most `limits.valuesPerCondition`. `sent` is the JSON Schema of a value. */
const oneOrMore = <Out, In>(value: z.ZodType<Out, In>, sent: object, description: string, example: unknown) => {
  const list = z
    .array(value)
    .min(1, 'must hold at least one value')
    .max(limits.valuesPerCondition, `must hold at most ${limits.valuesPerCondition} values`);
  const one = value.transform((only) => [only]);
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

const kinds = (description: string) => oneOrMore(eventKind, sentKind, description, 'Basket filled');
const listedNames =
  'an eventID, a name that the account lists now or that its events have unlisted, or a list of these.';

const whole = (least: number, most: number, description: string, example: number) => {
  const form = `must be a whole number from ${least} to ${most}`;
  const schema = z.number(field.says(form)).int(form).min(least, form).max(most, form);
  return field.described(schema.optional(), description, example);
};

/** What somebody did. None of the members: anything. */
const did: z.ZodType<Did<string>, SentDid> = objectOf({
  event: kinds(`Events of this kind: ${listedNames}`),
  filter: inner.optional().meta({ description: 'Events that meet this filter, which has no `did`.' }),
  atLeast: whole(1, limits.didTimes, 'At least so many such events; 1 if absent.', 3),
  atMost: whole(1, limits.didTimes, 'At most so many such events.', 9),
  withinDays: whole(
    1,
    limits.didDays,
    'Events of the last so many days (of 24 hours) before the report is asked; instead of `from` and `to`.',
    30,
  ),
  from: field.described(field.time.optional(), 'Events of this time or later.', '2026-10-01T00:00:00Z'),
  to: field.described(field.time.optional(), 'Events before this time.', '2026-11-01T00:00:00Z'),
}).superRefine(({ atLeast = 1, atMost, withinDays, from, to }, context) => {
  const add = (name: string, message: string) => context.addIssue({ code: 'custom', path: [name], message });
  if (atMost !== undefined && atMost < atLeast) add('atMost', `must not be below \`atLeast\` (${atLeast})`);
  if (withinDays !== undefined && (from ?? to) !== undefined)
    add('withinDays', 'must not be there beside `from` or `to`');
  if (from !== undefined && to !== undefined && to <= from) add('to', 'must be later than `from`');
});

const number = (description: string) =>
  field.described(z.number(field.says('must be a number that JSON carries exactly')), description, 20).optional();

/** The message for members that a condition does not have. */
const unknownMembers = (keys: readonly string[]): string => {
  const [unknown = ''] = keys;
  const nearest = nearestName(unknown, [...forms, ...comparisons]);
  const meant = nearest === undefined ? `a filter has ${forms.join(', ')}` : `did you mean \`${nearest}\`?`;
  return `has \`${unknown.slice(0, limits.attrIDLength)}\`, which no filter has; ${meant}`;
};

const anObject = field.says('must be a JSON object', 'object');

/** The condition itself. Its depth and the number of conditions in it are checked by `filter`. */
export const condition = z
  .strictObject(
    {
      and: several('All of these filters hold.'),
      or: several('At least one of these filters holds.'),
      not: inner.optional().meta({ description: 'This filter does not hold.' }),
      event: kinds(`The event is of this kind: ${listedNames}`),
      contact: field.described(
        contactFilter.optional(),
        'The person is a contact now, and all of these hold for it, as in searchContact; `{}` is any contact.',
        { contactTagID: 'vip' },
      ),
      did: field.described(
        did.optional(),
        "The person has such events, whenever: in the report's range or not, of robots only if these count. `{}` is any event.",
        { event: 'Paid', atLeast: 2, withinDays: 30 },
      ),
      segment: field.described(field.segmentName.optional(), 'The filter that is saved under this name holds.'),
      attrID: field.described(field.attrID.optional(), 'The attribute to compare; with one comparison beside it.'),
      personFirst: field.described(
        field.attrID.optional(),
        "The attribute to compare as it is in the first event ever of the event's person that has it, across browsers, in the report's range or not; with one comparison beside it.",
        'utm_campaign',
      ),
      is: values('The attribute has this value, or one of these; exactly, as text.'),
      isNot: values(
        'The attribute has another value than these, or the event does not have the attribute: the same as `not` with `is`.',
      ),
      contains: field.described(
        field.text(limits.attrValueLength).min(1, 'must not be empty').optional(),
        'The value contains this text. Upper and lower case differ.',
        'teapot',
      ),
      exists: field.described(
        z.boolean(field.says('must be true or false')).optional(),
        'Whether the event has the attribute.',
        true,
      ),
      lessThan: number('The value is a number below this one.'),
      greaterThan: number('The value is a number above this one.'),
    },
    {
      error: (issue) =>
        issue.code === 'unrecognized_keys' ? unknownMembers((issue as { keys: string[] }).keys) : anObject.error(issue),
    },
  )
  .superRefine((given, context) => {
    const form = forms.filter((name) => given[name] !== undefined);
    const compared = comparisons.filter((name) => given[name] !== undefined);
    const add = (message: string, ...path: string[]) => context.addIssue({ code: 'custom', message, path });
    const isCompared = form[0] === 'attrID' || form[0] === 'personFirst';
    if (form.length === 0 && compared.length > 0) add(`${field.required} with \`${compared[0]}\``, 'attrID');
    else if (form.length !== 1) add(`must have exactly one of ${forms.join(', ')}`);
    else if (isCompared && compared.length !== 1)
      add(`must have exactly one of ${comparisons.join(', ')} beside \`${form[0]}\``);
    else if (!isCompared && compared.length > 0)
      add(`has \`${compared[0]}\` beside \`${form[0]}\`; it belongs beside \`attrID\``);
  });

type Path = readonly PropertyKey[];

/** The filters right within a filter, each with its path in it. */
export const partsOf = <Segment>({
  and = [],
  or = [],
  not,
  did: { filter: done } = {},
}: Filter<Segment>): (readonly [Filter<Segment>, ...PropertyKey[]])[] => [
  ...and.map((part, index) => [part, 'and', index] as const),
  ...or.map((part, index) => [part, 'or', index] as const),
  ...(not ? [[not, 'not'] as const] : []),
  ...(done ? [[done, 'did', 'filter'] as const] : []),
];

/**
 * Reports what is nested too deep, a `did` within another, and too many conditions. A segment for which `savedAs` returns a filter
 * counts as that filter, and a limit that it exceeds is reported at the path of the segment.
 */
export const checkSize = (
  filter: Filter<string>,
  add: (path: Path, message: string) => void,
  savedAs: (segment: string) => Filter | undefined = () => undefined,
): void => {
  let conditions = 0;
  let dids = 0;
  const visit = (at: Filter<string>, path: Path, depth: number, isWithinDid: boolean, segment?: Path): void => {
    const report = (message: string, ofSegment: string, ...names: string[]) =>
      segment ? add(segment, ofSegment) : add([...path, ...names], message);
    const saved = at.segment === undefined ? undefined : savedAs(at.segment);
    if (saved) {
      visit(saved, path, depth, isWithinDid, [...path, 'segment']);
      return;
    }
    if (depth > limits.filterDepth) {
      const most = `more than ${limits.filterDepth} levels deep`;
      report(`is nested ${most}`, `makes the filter ${most}`);
      return;
    }
    conditions += 1;
    if (conditions === limits.conditionsPerFilter + 1) {
      const most = limits.conditionsPerFilter;
      report(
        `is one condition too many: a filter has at most ${most}`,
        `makes the filter hold more than ${most} conditions`,
      );
    }
    if (at.did) {
      dids += 1;
      const most = limits.didsPerFilter;
      const within = 'must not be within another `did`';
      if (isWithinDid) report(within, `holds a \`did\`, which ${within}`, 'did');
      else if (dids === most + 1)
        report(
          `is one too many: a filter has at most ${most}`,
          `makes the filter hold more than ${most} \`did\``,
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
