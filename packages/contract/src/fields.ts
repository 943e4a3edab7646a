/**
 * Building blocks of the schemas. A schema coerces first and validates last. Its metadata is what the OpenAPI document says of it:
 * `description` and `example`; `form`, the rule that its error message states; and `sent`, the JSON Schema of what a client may send
 * when that is more than the schema returns.
 */
import * as z from 'zod';
import { eventUUIDPattern, userUUIDPattern } from './identifiers.ts';
import { parseJSON } from './json.ts';
import { limits } from './limits.ts';
import { isPlaceholder, isSharedByMistake } from './placeholders.ts';

/** The schema with a description, one or more sentences, and an example that the service accepts. */
export const described = <Schema extends z.ZodType>(schema: Schema, description: string, example?: unknown): Schema =>
  schema.meta({ description, ...(example !== undefined && { example }) });

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
export const coerced = <In, Out>(coerce: (input: unknown) => unknown, schema: z.ZodType<Out>) =>
  z.preprocess(coerce, schema) as unknown as z.ZodType<Out, In>;

/** As `coerced`, for a field that may be absent. */
const coercedOptional = <In, Out>(coerce: (input: unknown) => unknown, schema: z.ZodType<Out | undefined>) =>
  z.preprocess(coerce, schema) as unknown as z.ZodOptional<z.ZodType<Out, In>>;

/** Whether every database and every JSON parser stores the text unchanged: it has no NUL and no lone surrogate. */
export const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();

const storableText = (maxLength: number, form: string) =>
  z.string(says(form)).max(maxLength, form).refine(isStorable, 'must not hold NUL characters or lone surrogates');

export const text = (maxLength: number) => storableText(maxLength, `must be text of at most ${maxLength} characters`);

export const filledText = (maxLength: number) =>
  text(maxLength)
    .refine((value) => value !== '', required)
    .meta({ minLength: 1 });

/** An optional field: null and "" count as absent. */
export const optional = <Out, In>(schema: z.ZodType<Out, In>) =>
  coercedOptional<In | '' | null, Out>(
    (input) => (input === '' || input === null ? undefined : input),
    schema.optional(),
  );

/**
 * A filter of a read by whom the results concern. An empty one is refused: as absent, it would return everybody's, when a program
 * has lost the value.
 */
export const whose = <Out, In>(schema: z.ZodType<Out, In>) =>
  z.preprocess((input, context) => {
    if (typeof input === 'string' && input.trim() === '') {
      context.addIssue({ code: 'custom', message: 'must not be empty: leave it out to read without this filter' });
    }
    return input ?? undefined;
  }, schema.optional()) as unknown as z.ZodOptional<z.ZodType<Out, In | null>>;

/** A field of an update: absent and "" leave it as it is, null clears it. */
export const clearable = <Out, In>(schema: z.ZodType<Out, In>) =>
  coercedOptional<In | '' | null, Out | null>(
    (input) => (input === '' ? undefined : input),
    schema.nullable().optional(),
  );

/** The value of a JSON text. Other input is returned as it is, and so is text that is not JSON. */
export const fromJSON = (input: unknown): unknown => {
  if (typeof input !== 'string') return input;
  try {
    return parseJSON(input);
  } catch {
    return input;
  }
};

/** A schema that takes the JSON text of its input too, as a query string or a form has it. */
export const orJSON = <Out, In>(schema: z.ZodType<Out, In>) => coerced<In, Out>(fromJSON, schema);

/** A list, or (in a query string or a form) the JSON text of one. */
export const list = <Out, In>(item: z.ZodType<Out, In>, most: number) =>
  orJSON<Out[], readonly In[]>(
    z
      .array(item, says('must be a JSON array', 'list'))
      .max(most, `must hold at most ${most} entries`) as unknown as z.ZodType<Out[], readonly In[]>,
  );

export const flag = coerced<boolean | 'true' | 'false', boolean>(
  (input) => (input === 'true' ? true : input === 'false' ? false : input),
  z.boolean(says('must be true or false')),
);

/** A whole number, or its digits. */
export const integer = (least: number, most: number) => {
  const form = `must be a whole number from ${least} to ${most}`;
  return coerced<number | string, number>(
    (input) => (typeof input === 'string' && /^\d{1,15}$/.test(input) ? Number(input) : input),
    z.number(says(form)).int(form).min(least, form).max(most, form),
  );
};

export const eventID = described(
  integer(1, limits.eventIDMax),
  'The kind of event. A number that the catalogue does not list is added to it.',
  3,
);
/** The form in which event names, segment names and external IDs are compared: in Unicode's NFC, without spaces around it. */
export const canonicalName = (name: string): string => name.trim().normalize('NFC');

/** Whether a text is a number: such a name would be taken for an eventID. */
export const isNumeral = (text: string): boolean => /^\d+$/.test(text);

/** A name in canonical form. A text longer than `most` is not normalized: this can take the square of its length. */
const canonical = (schema: z.ZodType<string>, most: number) =>
  coerced<string, string>(
    (input) => (typeof input === 'string' && input.length <= most ? canonicalName(input) : input),
    schema,
  );

export const eventName = canonical(
  filledText(limits.nameLength).refine(
    (value) => !isNumeral(value),
    'must not be a number: send a number as `eventID`',
  ),
  limits.nameLength,
);

export const segmentName = described(
  canonical(filledText(limits.nameLength), limits.nameLength),
  'The name of the segment. Without spaces around it, in Unicode NFC; upper and lower case differ.',
  'Teapot buyers',
);

export const viewName = described(
  canonical(filledText(limits.nameLength), limits.nameLength),
  'The name of the view. Without spaces around it, in Unicode NFC; upper and lower case differ.',
  'Teapots this month',
);

/** The most entries of a page. */
export const pageLimit = (most: number) =>
  described(integer(1, most), 'The most entries of one page; 100 if absent.', 100);

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

/** What a client may send as a time. A `Date` travels in JSON as its ISO 8601 text. */
export type SentTime = number | string | Date;

const toMilliseconds = (input: unknown): unknown => {
  if (typeof input !== 'string') return input instanceof Date ? input.getTime() : input;
  if (/^\d{1,15}$/.test(input)) return Number(input);
  return iso8601.test(input) && isCalendarDay(input) ? Date.parse(input) : input;
};
const milliseconds = z
  .number(saysTime)
  .refine((value) => value >= 0 && value < endOfTime, timeForm)
  .overwrite(Math.trunc);
const timeMeta = {
  form: timeForm,
  sent: {
    anyOf: [
      { type: 'string', format: 'date-time' },
      { type: 'string', format: 'date' },
      { type: 'integer', minimum: 0, maximum: endOfTime - 1 },
    ],
  },
};

/** A time in milliseconds since 1970, sent as such or as ISO 8601 (a date alone is its midnight in UTC). */
export const time = coerced<SentTime, number>(toMilliseconds, milliseconds).meta(timeMeta);

const dateAlone = /^\d{4}-\d\d-\d\d$/;
const isDay = (input: unknown) => typeof input === 'string' && dateAlone.test(input) && isCalendarDay(input);

/** As `time`, except that a date alone stays the text that it is: when its day begins depends on a time zone. */
export const timeOrDay = coerced<SentTime, number | string>(
  (input) => (isDay(input) ? input : toMilliseconds(input)),
  z.union([z.string().refine(isDay, saysTime), milliseconds], saysTime),
).meta(timeMeta);

const identifier = (pattern: RegExp, form: string) => z.string(says(form)).regex(pattern, form).meta({ form });

export const userUUID = described(
  identifier(userUUIDPattern, 'must be 16 to 64 of A-Z a-z 0-9 _ -').refine(
    (value) => !isSharedByMistake(value),
    'is a placeholder, such as undefined or all zeros: the client has sent no real value',
  ),
  'The user: one browser, which stores this identifier in a cookie of the same name.',
  'visitor-of-the-readme',
);

const repeatedUUID = identifier(eventUUIDPattern, 'must be 8 to 64 of A-Z a-z 0-9 _ -');
export const eventUUID = described(
  repeatedUUID,
  `Identifies the event: a repeat within ${limits.repeatDays} days is stored once. The service creates one if it is absent.`,
  'page-view-0001',
);
export const requestUUID = described(
  repeatedUUID,
  `Identifies the request: a repeat within ${limits.repeatDays} days gets the response of the first and changes nothing.`,
  'sign-up-0001',
);

/** An identifier that the service made. Any form is accepted: one that names nothing is 404, not 400. */
const made = (description: string, example: string) => described(filledText(limits.nameLength), description, example);

export const contactUUID = made('The contact.', 'V1StGXR8_Z5jdHi6B-myT');
export const accountUUID = made('The account.', 'h4qK0LxRj2mWc9ZtYpA3b');
export const tokenID = made('Names a token without revealing it.', 'x8Tn2kQwYb5rEv7uJc1Lz');
export const refusedID = made('The refused request.', '17');
export const memberID = made('Names a member.', 'm9Tn2kQwYb5rEv7uJc1Lz');
export const shareID = made('Names a share link without revealing it.', 's7Tn2kQwYb5rEv7uJc1Lz');
export const linkID = made('The link.', '1042');
export const claimID = made('The claim: the handle that the browser token was given.', 'uR5sW2nPz8kYt0aVb6QeG');

export const name = text(limits.nameLength);
/** A name that may be shown in a line. */
export const nameInLine = name
  .trim()
  .refine(
    (value) => !/[\p{Cc}\p{Cf}]/u.test(value),
    'must not hold control characters, nor characters that change the direction of writing',
  );
export const email = described(filledText(limits.emailLength), "The contact's e-mail address.", 'ann@shop.example');

/** Control characters would break the text of a contactProof into other lines. */
const externalIDForm = 'must be text without control characters';
export const externalID = described(
  canonical(
    filledText(limits.externalIDLength)
      .refine((value) => !/\p{Cc}/u.test(value), externalIDForm)
      .refine(
        (value) => !isPlaceholder(value),
        'is a placeholder, such as undefined, {{id}} or -: the client has sent no real value',
      ),
    limits.externalIDLength,
  ),
  'Your own ID of the contact, unique in the account. Without spaces around it, in Unicode NFC; upper and lower case differ.',
  'customer-1042',
);
export const cursor = described(
  text(256),
  'The `nextCursor` of the page before. Absent for the first page.',
  'ZTEuNDI',
);

/** The fields that name a contact. The first that is given counts. */
export const named = {
  contactUUID: described(
    optional(contactUUID),
    'The contact; or name it by `contactExternalID` or `contactEmailaddress`.',
  ),
  contactExternalID: optional(externalID),
  contactEmailaddress: optional(email),
};

/** The check that a request names a contact by one of these fields, and its message. */
export const namesContact = (
  prefix: 'contact' | 'otherContact' = 'contact',
): [(input: Readonly<Record<string, unknown>>) => boolean, { path: string[]; message: string }] => {
  const [first, ...others] = [`${prefix}UUID`, `${prefix}ExternalID`, `${prefix}Emailaddress`] as const;
  return [
    (input) => [first, ...others].some((name) => typeof input[name] === 'string'),
    { path: [first], message: `is required unless ${others.map((name) => `\`${name}\``).join(' or ')} is given` },
  ];
};

/** Whether a text can be an entry of a comma-separated list of IDs and be read back unchanged. */
export const isCatalogueID = (text: string) => !text.includes(',') && !text.startsWith('-') && text.trim() === text;

const catalogueForm = 'must not hold a comma, begin with - or be padded with spaces';
/** The ID of a profile, a tag or an attribute, chosen by the client. */
const catalogueID = filledText(limits.attrIDLength).refine(isCatalogueID, catalogueForm).meta({ form: catalogueForm });

export const profileID = described(catalogueID, 'The profile.', 'customer');
export const tagID = described(catalogueID, 'The tag.', 'newsletter');
export const attrID = described(catalogueID, 'The attribute.', 'product');

/** The ID of an entry of any catalogue, as text. That of an event may be sent as a number. */
export const entryID = coerced<string | number, string>(
  (input) => (typeof input === 'number' && Number.isInteger(input) ? String(input) : input),
  catalogueID,
).meta({
  form: catalogueForm,
  sent: {
    anyOf: [
      { type: 'string', minLength: 1 },
      { type: 'integer', minimum: 1 },
    ],
  },
});

/** Tag IDs separated by commas; `removable` allows `-id`, which removes the tag. Empty ones are left out. */
export const tagIDs = (removable: boolean) => {
  const isTagID = (text: string) => {
    const id = text.trim();
    const bare = removable && id.startsWith('-') ? id.slice(1) : id;
    return bare.length <= limits.attrIDLength && !bare.startsWith('-');
  };
  const form = `must be tag IDs of at most ${limits.attrIDLength} characters, separated by commas`;
  return text(limits.tagsPerContact * (limits.attrIDLength + 2))
    .refine(
      (value) => value.split(',').length <= limits.tagsPerContact,
      `must name at most ${limits.tagsPerContact} tags`,
    )
    .refine((value) => value.split(',').every(isTagID), form)
    .meta({ form });
};

/** Whether JSON carried a number exactly: an integer above 2^53 may have been rounded to its neighbour. */
export const isExact = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));

/** The value of an attribute; a number or a boolean is stored as its text. */
const scalarForm = `must be text of at most ${limits.attrValueLength} characters, a number that JSON carries exactly, or true or false`;
const scalar = coerced<string | number | boolean, string>(
  (input) => (isExact(input) || typeof input === 'boolean' ? String(input) : input),
  storableText(limits.attrValueLength, scalarForm),
).meta({
  sent: {
    anyOf: [{ type: 'string', maxLength: limits.attrValueLength }, { type: 'number' }, { type: 'boolean' }],
  },
});
export const attrValue = described(
  scalar,
  'The value of the attribute. A number, true or false is stored as its text.',
  'Stone teapot',
);
/** In an update, null removes the attribute. */
const removableValue = described(
  scalar.nullable(),
  'The value of the attribute. A number, true or false is stored as its text; null removes the attribute.',
  'Stone teapot',
);

export const anAttribute = says('must be an object of attrID and attrValue', 'object');
export const removableAttribute = z.object({ attrID, attrValue: removableValue }, anAttribute);

/** A list of attributes in which no attrID occurs twice. */
export const distinctAttributes = <Out extends { attrID: string }, In>(item: z.ZodType<Out, In>) =>
  list(item, limits.attributesPerEvent).superRefine((entries, context) => {
    const seen = new Set<string>();
    entries.forEach(({ attrID }, index) => {
      if (seen.has(attrID)) {
        context.addIssue({ code: 'custom', path: [index, 'attrID'], message: 'is in the list twice' });
      }
      seen.add(attrID);
    });
  });

/** `word,word`, or a list of words. */
export const commaSeparated = <Out, Word extends string>(schema: z.ZodType<Out, readonly Word[]>) =>
  coerced<string | readonly Word[], Out>((input) => {
    const words = fromJSON(input);
    return typeof words === 'string' ? words.split(',').map((word) => word.trim()) : words;
  }, schema);

/** `word,word`: the parts to add to the response. */
export const include = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  commaSeparated<Words[number][], Words[number]>(
    z.array(z.enum(words, `must name only: ${words.join(', ')}`)) as unknown as z.ZodType<
      Words[number][],
      readonly Words[number][]
    >,
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

const timezoneForm = 'must be an IANA time zone, such as Europe/London';
export const timezone = name.refine(isTimezone, timezoneForm).meta({ form: timezoneForm, example: 'Europe/London' });

const currencyForm = 'must be a currency code of ISO 4217 in capital letters, such as EUR';
export const currency = name
  .refine((value) => Intl.supportedValuesOf('currency').includes(value), currencyForm)
  .meta({ form: currencyForm, example: 'EUR' });

/** A filter by an attribute: that it is there, or with `attrValue` that it has this value. */
export const attributeFilter = (what: 'events' | 'contacts') => ({
  attrID: described(optional(attrID), `Only ${what} with this attribute.`),
  attrValue: described(
    optional(text(limits.attrValueLength)),
    `With \`attrID\`: only ${what} where the attribute has this value.`,
    'Stone teapot',
  ),
});
export const isAttributePair = ({
  attrID,
  attrValue,
}: {
  attrID?: string | undefined;
  attrValue?: string | undefined;
}) => attrValue === undefined || attrID !== undefined;
export const attributePairProblem = { path: ['attrID'], message: 'is required with `attrValue`' };
