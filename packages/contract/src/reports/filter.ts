/**
 * The filters of reports: a closed grammar of conditions on an event. Each object is one condition, `{"and": […]}`, `{"or": […]}`,
 * `{"not": …}`, `{"event": …}`, `{"contact": …}`, or an attrID with one comparison: `{"attrID": "plan", "is": "pro"}`.
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

/** The members that a search for contacts filters by; all of them hold. None: any contact. */
const contactFilter = z
  .strictObject(contactMembers, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has \`${(issue as { keys: string[] }).keys[0]?.slice(0, limits.attrIDLength)}\`; it takes ${Object.keys(contactMembers).join(', ')}`
        : field.says('must be a JSON object', 'object').error(issue),
  })
  .refine(field.isAttributePair, field.attributePairProblem);
export type ContactFilter = z.output<typeof contactFilter>;

/** A checked condition. Exactly one of and, or, not, event, contact and attrID is there; beside attrID exactly one comparison. */
export interface Filter {
  readonly and?: readonly Filter[] | undefined;
  readonly or?: readonly Filter[] | undefined;
  readonly not?: Filter | undefined;
  /** eventIDs, and names as `eventName` of countEvents. */
  readonly event?: readonly (number | string)[] | undefined;
  /** The event's owner is a contact that a search with these finds. */
  readonly contact?: ContactFilter | undefined;
  readonly attrID?: string | undefined;
  readonly is?: readonly string[] | undefined;
  readonly isNot?: readonly string[] | undefined;
  readonly contains?: string | undefined;
  readonly exists?: boolean | undefined;
  readonly lessThan?: number | undefined;
  readonly greaterThan?: number | undefined;
}

type Value = string | number | boolean;

/** A condition as a client may send it: a value in place of a list of one. */
export interface SentFilter extends Omit<Filter, 'and' | 'or' | 'not' | 'event' | 'contact' | 'is' | 'isNot'> {
  readonly and?: readonly SentFilter[] | undefined;
  readonly or?: readonly SentFilter[] | undefined;
  readonly not?: SentFilter | undefined;
  readonly event?: number | string | readonly (number | string)[] | undefined;
  readonly contact?: z.input<typeof contactFilter> | undefined;
  readonly is?: Value | readonly Value[] | undefined;
  readonly isNot?: Value | readonly Value[] | undefined;
}

const forms = ['and', 'or', 'not', 'event', 'contact', 'attrID'] as const;
const comparisons = ['is', 'isNot', 'contains', 'exists', 'lessThan', 'greaterThan'] as const;

const inner: z.ZodType<Filter, SentFilter> = z.lazy(() => condition);

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
      event: oneOrMore(
        eventKind,
        sentKind,
        'The event is of this kind: an eventID, a name that the account lists now, or a list of these. A name that is not listed is of no event.',
        'Basket filled',
      ),
      contact: field.described(
        contactFilter.optional(),
        'The person is a contact now, and all of these hold for it, as in searchContact; `{}` is any contact.',
        { contactTagID: 'vip' },
      ),
      attrID: field.described(field.attrID.optional(), 'The attribute to compare; with one comparison beside it.'),
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
    if (form.length === 0 && compared.length > 0) add(`${field.required} with \`${compared[0]}\``, 'attrID');
    else if (form.length !== 1) add(`must have exactly one of ${forms.join(', ')}`);
    else if (form[0] === 'attrID' && compared.length !== 1)
      add(`must have exactly one of ${comparisons.join(', ')} beside \`attrID\``);
    else if (form[0] !== 'attrID' && compared.length > 0)
      add(`has \`${compared[0]}\` beside \`${form[0]}\`; it belongs beside \`attrID\``);
  });

/** Reports what is nested too deep or has too many conditions. `conditions` counts those before `at`; returns those up to its end. */
const countConditions = (
  at: Filter,
  path: readonly PropertyKey[],
  conditions: number,
  add: (path: readonly PropertyKey[], message: string) => void,
  depth = 1,
): number => {
  if (depth > limits.filterDepth) {
    add(path, `is nested more than ${limits.filterDepth} levels deep`);
    return conditions;
  }
  let count = conditions + 1;
  if (count === limits.conditionsPerFilter + 1) {
    add(path, `is one condition too many: a filter has at most ${limits.conditionsPerFilter}`);
  }
  for (const name of ['and', 'or'] as const) {
    for (const [index, part] of (at[name] ?? []).entries()) {
      count = countConditions(part, [...path, name, index], count, add, depth + 1);
    }
  }
  return at.not === undefined ? count : countConditions(at.not, [...path, 'not'], count, add, depth + 1);
};

/** A filter: a condition of bounded depth and size. */
export const filter: z.ZodType<Filter, SentFilter> = condition.superRefine((given, context) => {
  countConditions(given, [], 0, (path, message) => context.addIssue({ code: 'custom', message, path: [...path] }));
});
