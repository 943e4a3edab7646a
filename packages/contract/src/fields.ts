/** Building blocks of the schemas. A schema coerces first and validates last, so the documentation shows its output. */
import * as z from 'zod';
import { eventUUIDPattern, userUUIDPattern } from './identifiers.ts';
import { parseJSON } from './json.ts';
import { limits } from './limits.ts';
import { isSharedByMistake } from './placeholders.ts';

/** The message of a field that is absent. */
export const required = 'is required';

/** The type of a value, in words, if it is the wrong one; "" for wanted text, and for a number that is not finite (json.ts). */
const kindOf = (value: unknown, wanted: 'text' | 'list' | 'object'): string => {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return wanted === 'text' ? '' : 'text';
  if (typeof value === 'number') return Number.isFinite(value) ? 'a number' : '';
  return value === null || typeof value === 'boolean' ? String(value) : 'an object';
};

/** The message for an invalid value: the form that is expected and, if the value has the wrong type, its type. */
export const says = (form: string, wanted: 'text' | 'list' | 'object' = 'text') => ({
  error: ({ input }: { input?: unknown }) => {
    if (input === undefined) return required;
    const kind = kindOf(input, wanted);
    return kind === '' ? form : `${form}; the value is ${kind}`;
  },
});

/** A schema that passes its input through `coerce` before checking it, typed as taking `In`. */
const coerced = <In, Out>(coerce: (input: unknown) => unknown, schema: z.ZodType<Out>) =>
  z.preprocess(coerce, schema) as unknown as z.ZodType<Out, In>;

/** As `coerced`, for a field that may be absent. */
const coercedOptional = <In, Out>(coerce: (input: unknown) => unknown, schema: z.ZodType<Out | undefined>) =>
  z.preprocess(coerce, schema) as unknown as z.ZodOptional<z.ZodType<Out, In>>;

/** Whether every database and every JSON parser stores the text unchanged: it has no NUL and no lone surrogate. */
export const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();

const storableText = (maxLength: number, form: string) =>
  z.string(says(form)).max(maxLength, form).refine(isStorable, 'must not hold NUL characters or lone surrogates');

export const text = (maxLength: number) => storableText(maxLength, `must be text of at most ${maxLength} characters`);

export const filledText = (maxLength: number) => text(maxLength).refine((value) => value !== '', required);

/** An optional field: null and "" count as absent. */
export const optional = <Out, In>(schema: z.ZodType<Out, In>) =>
  coercedOptional<In | '' | null, Out>(
    (input) => (input === '' || input === null ? undefined : input),
    schema.optional(),
  );

/** A field of an update: absent and "" leave it as it is, null clears it. */
export const clearable = <Out, In>(schema: z.ZodType<Out, In>) =>
  coercedOptional<In | '' | null, Out | null>(
    (input) => (input === '' ? undefined : input),
    schema.nullable().optional(),
  );

/** A list, or (in a query string or a form) the JSON text of one. */
export const list = <Out, In>(item: z.ZodType<Out, In>, most: number) =>
  coerced<readonly In[], Out[]>(
    (input) => {
      if (typeof input !== 'string') return input;
      try {
        return parseJSON(input);
      } catch {
        return input;
      }
    },
    z.array(item, says('must be a JSON array', 'list')).max(most, `must hold at most ${most} entries`),
  );

export const flag = coerced<boolean | 'true' | 'false', boolean>(
  (input) => (input === 'true' ? true : input === 'false' ? false : input),
  z.boolean(says('must be true or false')),
);

const integer = (least: number, most: number) => {
  const form = `must be a whole number from ${least} to ${most}`;
  return coerced<number | string, number>(
    (input) => (typeof input === 'string' && /^\d{1,15}$/.test(input) ? Number(input) : input),
    z.number(says(form)).int(form).min(least, form).max(most, form),
  );
};

export const eventID = integer(1, limits.eventIDMax);
/** The form in which event names are compared: in Unicode's NFC, without spaces around it. */
export const canonicalName = (name: string): string => name.trim().normalize('NFC');

/** Whether a text is a number: such a name would be taken for an eventID. */
export const isNumeral = (text: string): boolean => /^\d+$/.test(text);

/** The name of an event, as it is compared. A longer text is not normalized first: this can take the square of its length. */
export const eventName = coerced<string, string>(
  (input) => (typeof input === 'string' && input.length <= limits.nameLength ? canonicalName(input) : input),
  filledText(limits.nameLength).refine(
    (value) => !isNumeral(value),
    'must not be a number: send a number as `eventID`',
  ),
);

export const pageLimit = (most: number) => integer(1, most);

const iso8601 = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d))?$/;
/** Whether the day exists: Date.parse takes 30 February for 2 March. */
const isCalendarDay = (text: string): boolean => {
  const day = text.slice(0, 10);
  const parsed = Date.parse(day);
  return !Number.isNaN(parsed) && new Date(parsed).toISOString().startsWith(day);
};

const timeForm = 'must be a time: ISO 8601 with its offset, such as 2026-11-01T09:30:00Z, or milliseconds since 1970';
const withoutOffset = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?$/;
const saysTime = {
  error: (issue: { input?: unknown }) =>
    typeof issue.input === 'string' && withoutOffset.test(issue.input)
      ? `${timeForm}; the value has no offset: end it with Z for UTC`
      : says(timeForm).error(issue),
};

/** The start of the year 10000, which ISO 8601 no longer writes with four digits: every time is before it. */
export const endOfTime = Date.UTC(10_000, 0);

/** A time in milliseconds since 1970, sent as such or as ISO 8601 (a date alone is its midnight in UTC). */
export const time = coerced<number | string, number>(
  (input) => {
    if (typeof input !== 'string') return input;
    if (/^\d{1,15}$/.test(input)) return Number(input);
    return iso8601.test(input) && isCalendarDay(input) ? Date.parse(input) : input;
  },
  z
    .number(saysTime)
    .refine((value) => value >= 0 && value < endOfTime, timeForm)
    .overwrite(Math.trunc),
);

const identifier = (pattern: RegExp, form: string) => z.string(says(form)).regex(pattern, form);

export const userUUID = identifier(userUUIDPattern, 'must be 16 to 64 of A-Z a-z 0-9 _ -').refine(
  (value) => !isSharedByMistake(value),
  'is a placeholder, such as undefined or all zeros: the client has sent no real value',
);

export const eventUUID = identifier(eventUUIDPattern, 'must be 8 to 64 of A-Z a-z 0-9 _ -');
export const requestUUID = eventUUID;

/** Any form is accepted: a contactUUID that names nobody is 404, not 400. */
export const contactUUID = filledText(limits.nameLength);
export const name = text(limits.nameLength);
export const email = filledText(limits.emailLength);
export const cursor = text(256);

/** Whether a text can be an entry of a comma-separated list of IDs and be read back unchanged. */
export const isCatalogueID = (text: string) => !text.includes(',') && !text.startsWith('-') && text.trim() === text;

/** The ID of a profile, a tag or an attribute, chosen by the client. */
export const catalogueID = filledText(limits.attrIDLength).refine(
  isCatalogueID,
  'must not hold a comma, begin with - or be padded with spaces',
);

/** Tag IDs separated by commas; `removable` allows `-id`, which removes the tag. Empty ones are left out. */
export const tagIDs = (removable: boolean) => {
  const isTagID = (text: string) => {
    const id = text.trim();
    const bare = removable && id.startsWith('-') ? id.slice(1) : id;
    return bare.length <= limits.attrIDLength && !bare.startsWith('-');
  };
  return text(limits.tagsPerContact * (limits.attrIDLength + 2))
    .refine(
      (value) => value.split(',').length <= limits.tagsPerContact,
      `must name at most ${limits.tagsPerContact} tags`,
    )
    .refine(
      (value) => value.split(',').every(isTagID),
      `must be tag IDs of at most ${limits.attrIDLength} characters, separated by commas`,
    );
};

/** Whether JSON carried a number exactly: an integer above 2^53 may have been rounded to its neighbour. */
const isExact = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));

/** The value of an attribute; a number or a boolean is stored as its text. */
const scalarForm = `must be text of at most ${limits.attrValueLength} characters, a number that JSON carries exactly, or true or false`;
const scalar = coerced<string | number | boolean, string>(
  (input) => (isExact(input) || typeof input === 'boolean' ? String(input) : input),
  storableText(limits.attrValueLength, scalarForm),
);

const anAttribute = says('must be an object of attrID and attrValue', 'object');
export const attribute = z.object({ attrID: catalogueID, attrValue: scalar }, anAttribute);
/** In an update, an attrValue of null removes the attribute. */
export const removableAttribute = z.object({ attrID: catalogueID, attrValue: scalar.nullable() }, anAttribute);

/** A list of attributes in which no attrID occurs twice. */
export const attributes = <Out extends { attrID: string }, In>(item: z.ZodType<Out, In>) =>
  list(item, limits.attributesPerEvent).superRefine((entries, context) => {
    const seen = new Set<string>();
    entries.forEach(({ attrID }, index) => {
      if (seen.has(attrID)) {
        context.addIssue({ code: 'custom', path: [index, 'attrID'], message: 'is in the list twice' });
      }
      seen.add(attrID);
    });
  });

/** `word,word`: the parts to add to the response. */
export const include = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  coerced<string | readonly Words[number][], Words[number][]>(
    (input) => (typeof input === 'string' ? input.split(',').map((word) => word.trim()) : input),
    z.array(z.enum(words, `must name only: ${words.join(', ')}`)),
  );

export const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, says(`must be one of: ${words.join(', ')}`));

const isTimezone = (value: string) => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return true;
  } catch {
    return false;
  }
};

export const timezone = name.refine(isTimezone, 'must be an IANA time zone, such as Europe/London');

/** A filter by an attribute: that it is there, or with `attrValue` that it has this value. */
export const attributeFilter = {
  attrID: optional(catalogueID),
  attrValue: optional(text(limits.attrValueLength)),
};
export const isAttributePair = ({
  attrID,
  attrValue,
}: {
  attrID?: string | undefined;
  attrValue?: string | undefined;
}) => attrValue === undefined || attrID !== undefined;
export const attributePairProblem = { path: ['attrID'], message: 'is required with `attrValue`' };
