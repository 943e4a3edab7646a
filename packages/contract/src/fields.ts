/**
 * Building blocks of the schemas, which coerce first and validate last. Their metadata goes into the OpenAPI document:
 * `description`, `example`, `form` (the rule in the error message) and `sent` (a JSON Schema for the input, if a field
 * accepts more than it returns).
 */
import * as z from 'zod';
import { eventUUIDPattern, userUUIDPattern } from './identifiers.ts';
import { parseJSON } from './json.ts';
import { limits } from './limits.ts';
import { isPlaceholder, isPlaceholderUserUUID } from './placeholders.ts';

/** Adds a description of one or more sentences and an example that the service accepts. */
export const describe = <Schema extends z.ZodType>(schema: Schema, description: string, example?: unknown): Schema =>
  schema.meta({ description, ...(example !== undefined && { example }) });

/** The message for a missing field. */
export const required = 'is required';

/** Returns a value's type for an error message; "" if the type is as expected, or for an infinite number (json.ts). */
const kindOf = (value: unknown, expected: 'text' | 'list' | 'object'): string => {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return expected === 'text' ? '' : 'text';
  if (typeof value === 'number') return Number.isFinite(value) ? 'a number' : '';
  return value === null || typeof value === 'boolean' ? String(value) : 'an object';
};

/** The message for an invalid value: the expected form and, if the value has the wrong type, that type. */
export const errorMessage = (form: string, expected: 'text' | 'list' | 'object' = 'text') => ({
  error: ({ input }: { input?: unknown }) => {
    if (input === undefined) return required;
    const kind = kindOf(input, expected);
    return kind === '' ? form : `${form}; the value is ${kind}`;
  },
});

/** A schema that passes its input through `coerce` before checking it. Its input has the type `In`. */
export const coerced = <In, Out>(coerce: (input: unknown) => unknown, schema: z.ZodType<Out>) =>
  z.preprocess(coerce, schema) as unknown as z.ZodType<Out, In>;

/** Like `coerced`, but for a field that may be absent. */
const coercedOptional = <In, Out>(coerce: (input: unknown) => unknown, schema: z.ZodType<Out | undefined>) =>
  z.preprocess(coerce, schema) as unknown as z.ZodOptional<z.ZodType<Out, In>>;

/** Whether every database and JSON parser preserves the string: no NUL characters, no lone surrogates. */
export const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();

const storableText = (maxLength: number, form: string) =>
  z
    .string(errorMessage(form))
    .max(maxLength, form)
    .refine(isStorable, 'must not contain NUL characters or lone surrogates');

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
 * An optional filter in a read. An empty filter is rejected: if it counted as absent, a program that failed to set it
 * would read all data.
 */
export const optionalFilter = <Out, In>(schema: z.ZodType<Out, In>) =>
  z.preprocess((input, context) => {
    if (typeof input === 'string' && input.trim() === '') {
      context.addIssue({ code: 'custom', message: 'must not be empty: omit it to read without this filter' });
    }
    return input ?? undefined;
  }, schema.optional()) as unknown as z.ZodOptional<z.ZodType<Out, In | null>>;

/** A field of an update: absent and "" leave it unchanged, null clears it. */
export const clearable = <Out, In>(schema: z.ZodType<Out, In>) =>
  coercedOptional<In | '' | null, Out | null>(
    (input) => (input === '' ? undefined : input),
    schema.nullable().optional(),
  );

/** Parses JSON text. Other input, including text that is not JSON, is returned unchanged. */
export const fromJSON = (input: unknown): unknown => {
  if (typeof input !== 'string') return input;
  try {
    return parseJSON(input);
  } catch {
    return input;
  }
};

/** Also accepts the input as JSON text, the form in query strings and form fields. */
export const orJSON = <Out, In>(schema: z.ZodType<Out, In>) => coerced<In, Out>(fromJSON, schema);

/** A list or, in a query string or form, its JSON text. */
export const list = <Out, In>(item: z.ZodType<Out, In>, max: number) =>
  orJSON<Out[], readonly In[]>(
    z
      .array(item, errorMessage('must be a JSON array', 'list'))
      .max(max, `must contain at most ${max} entries`) as unknown as z.ZodType<Out[], readonly In[]>,
  );

export const flag = coerced<boolean | 'true' | 'false', boolean>(
  (input) => (input === 'true' ? true : input === 'false' ? false : input),
  z.boolean(errorMessage('must be true or false')),
);

/** A whole number, or its digits as a string. */
export const integer = (min: number, max: number) => {
  const form = `must be a whole number from ${min} to ${max}`;
  return coerced<number | string, number>(
    (input) => (typeof input === 'string' && /^\d{1,15}$/.test(input) ? Number(input) : input),
    z.number(errorMessage(form)).int(form).min(min, form).max(max, form),
  );
};

export const eventID = describe(
  integer(1, limits.eventIDMax),
  'The kind of event. An unlisted number is added to the catalogue.',
  3,
);
/** The form in which event names, segment names and external IDs are compared: Unicode NFC, trimmed. */
export const canonicalName = (name: string): string => name.trim().normalize('NFC');

/** Whether a string is a number, which could be confused with an eventID. */
export const isNumeral = (text: string): boolean => /^\d+$/.test(text);

/** A name in canonical form. Text longer than `maxLength` is not normalized, because that can take quadratic time. */
const canonical = (schema: z.ZodType<string>, maxLength: number) =>
  coerced<string, string>(
    (input) => (typeof input === 'string' && input.length <= maxLength ? canonicalName(input) : input),
    schema,
  );

export const eventName = canonical(
  filledText(limits.nameLength).refine(
    (value) => !isNumeral(value),
    'must not be a number: send a number as `eventID`',
  ),
  limits.nameLength,
);

export const segmentName = describe(
  canonical(filledText(limits.nameLength), limits.nameLength),
  'The segment’s name, case-sensitive. It is trimmed and converted to Unicode NFC.',
  'Teapot buyers',
);

export const viewName = describe(
  canonical(filledText(limits.nameLength), limits.nameLength),
  'The view’s name, case-sensitive. It is trimmed and converted to Unicode NFC.',
  'Teapots this month',
);

export const pageLimit = (max: number) =>
  describe(integer(1, max), 'The maximum number of entries per page; 100 by default.', 100);

const iso8601 = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d))?$/;
/** Whether the day exists: Date.parse reads 30 February as 2 March. */
const isCalendarDay = (text: string): boolean => {
  const day = text.slice(0, 10);
  const parsed = Date.parse(day);
  return !Number.isNaN(parsed) && new Date(parsed).toISOString().startsWith(day);
};

const timeForm = 'must be a time: ISO 8601 with its offset, such as 2026-11-01T09:30:00Z, or milliseconds since 1970';
const withoutOffset = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?$/;
const timeErrorMessage = {
  error: (issue: { input?: unknown }) =>
    typeof issue.input === 'string' && withoutOffset.test(issue.input)
      ? `${timeForm}; the value has no offset: end it with Z for UTC`
      : errorMessage(timeForm).error(issue),
};

/** The start of the year 10000, which no longer fits the four-digit years of ISO 8601. Every time is before it. */
export const endOfTime = Date.UTC(10_000, 0);

/** What a client may send as a time. JSON serializes a `Date` as ISO 8601. */
export type SentTime = number | string | Date;

const toMilliseconds = (input: unknown): unknown => {
  if (typeof input !== 'string') return input instanceof Date ? input.getTime() : input;
  if (/^\d{1,15}$/.test(input)) return Number(input);
  return iso8601.test(input) && isCalendarDay(input) ? Date.parse(input) : input;
};
const milliseconds = z
  .number(timeErrorMessage)
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

/** A time, sent in milliseconds since 1970 or as ISO 8601. A date without a time is midnight UTC. */
export const time = coerced<SentTime, number>(toMilliseconds, milliseconds).meta(timeMeta);

const dateOnly = /^\d{4}-\d\d-\d\d$/;
const isDay = (input: unknown) => typeof input === 'string' && dateOnly.test(input) && isCalendarDay(input);

/** Like `time`, but a date without a time stays a string, because the start of its day depends on a time zone. */
export const timeOrDay = coerced<SentTime, number | string>(
  (input) => (isDay(input) ? input : toMilliseconds(input)),
  z.union([z.string().refine(isDay, timeErrorMessage), milliseconds], timeErrorMessage),
).meta(timeMeta);

const identifier = (pattern: RegExp, form: string) => z.string(errorMessage(form)).regex(pattern, form).meta({ form });

export const userUUID = describe(
  identifier(userUUIDPattern, 'must be 16 to 64 of A-Z a-z 0-9 _ -').refine(
    (value) => !isPlaceholderUserUUID(value),
    'is a placeholder, such as undefined or all zeros, instead of a real value',
  ),
  'The user: a browser, which stores this ID in a cookie of the same name.',
  'visitor-of-the-readme',
);

const repeatedUUID = identifier(eventUUIDPattern, 'must be 8 to 64 of A-Z a-z 0-9 _ -');
export const eventUUID = describe(
  repeatedUUID,
  `Identifies the event: within ${limits.repeatDays} days, a second event with the same eventUUID is not stored. Generated if absent.`,
  'page-view-0001',
);
export const requestUUID = describe(
  repeatedUUID,
  `Identifies the request: a duplicate within ${limits.repeatDays} days returns the first response and changes nothing.`,
  'sign-up-0001',
);

/** An ID created by the service. Any string is accepted: an unknown ID is a 404, not a 400. */
const serviceID = (description: string, example: string) =>
  describe(filledText(limits.nameLength), description, example);

export const contactUUID = serviceID('The contact.', 'V1StGXR8_Z5jdHi6B-myT');
export const accountUUID = serviceID('The account.', 'h4qK0LxRj2mWc9ZtYpA3b');
export const tokenID = serviceID('Identifies a token without revealing it.', 'x8Tn2kQwYb5rEv7uJc1Lz');
export const refusedID = serviceID('The rejected request.', '17');
export const memberID = serviceID('The member.', 'm9Tn2kQwYb5rEv7uJc1Lz');
export const shareID = serviceID('Identifies a share link without revealing its secret.', 's7Tn2kQwYb5rEv7uJc1Lz');
export const goalID = serviceID('The goal.', 'g2Tn2kQwYb5rEv7uJc1Lz');
export const noteID = serviceID('The note.', 'n6Tn2kQwYb5rEv7uJc1Lz');
export const webhookID = serviceID('The webhook.', 'w3Tn2kQwYb5rEv7uJc1Lz');
export const notificationID = serviceID('The notification.', 'n6Tn2kQwYb5rEv7uJc1Lz');
export const importID = serviceID('The import.', 'i5Tn2kQwYb5rEv7uJc1Lz');
export const linkID = serviceID('The link.', '1042');
export const claimID = serviceID(
  'The claim: the handle that createContact returned to the browser.',
  'uR5sW2nPz8kYt0aVb6QeG',
);

export const name = text(limits.nameLength);
/** Text that is safe to show on one line. */
export const line = (maxLength: number) =>
  text(maxLength)
    .trim()
    .refine(
      (value) => !/[\p{Cc}\p{Cf}]/u.test(value),
      'must not contain control characters or characters that change the text direction',
    );
export const nameInLine = line(limits.nameLength);
export const email = describe(filledText(limits.emailLength), "The contact's e-mail address.", 'ann@shop.example');

/** Line breaks would change the text that a contactProof signs. */
const externalIDForm = 'must be text without control characters';
export const externalID = describe(
  canonical(
    filledText(limits.externalIDLength)
      .refine((value) => !/\p{Cc}/u.test(value), externalIDForm)
      .refine(
        (value) => !isPlaceholder(value),
        'is a placeholder, such as undefined, {{id}} or -, instead of a real value',
      ),
    limits.externalIDLength,
  ),
  'Your own ID for the contact, case-sensitive and unique in the account. It is trimmed and converted to Unicode NFC.',
  'customer-1042',
);
export const cursor = describe(
  text(256),
  'The `nextCursor` of the previous page. Omit it for the first page.',
  'ZTEuNDI',
);

/** The fields that identify a contact. The first field that is present takes precedence. */
export const contactKeys = {
  contactUUID: describe(
    optional(contactUUID),
    'The contact, which may be identified by `contactExternalID` or `contactEmailaddress` instead.',
  ),
  contactExternalID: optional(externalID),
  contactEmailaddress: optional(email),
};

/** Arguments for `refine`: a request must have one of the fields that identify a contact. */
export const identifiesContact = (
  prefix: 'contact' | 'otherContact' = 'contact',
): [(input: Readonly<Record<string, unknown>>) => boolean, { path: string[]; message: string }] => {
  const [first, ...others] = [`${prefix}UUID`, `${prefix}ExternalID`, `${prefix}Emailaddress`] as const;
  return [
    (input) => [first, ...others].some((name) => typeof input[name] === 'string'),
    { path: [first], message: `is required unless ${others.map((name) => `\`${name}\``).join(' or ')} is given` },
  ];
};

/** Whether a string survives a round trip through a comma-separated list of IDs. */
export const isCatalogueID = (text: string) => !text.includes(',') && !text.startsWith('-') && text.trim() === text;

const catalogueForm = 'must not contain a comma, start with - or have spaces around it';
/** The ID of a profile, a tag or an attribute, chosen by the client. */
const catalogueID = filledText(limits.attrIDLength).refine(isCatalogueID, catalogueForm).meta({ form: catalogueForm });

export const profileID = describe(catalogueID, 'The profile.', 'customer');
export const tagID = describe(catalogueID, 'The tag.', 'newsletter');
export const attrID = describe(catalogueID, 'The attribute.', 'product');

/** An entry's ID in any catalogue, as a string. An eventID may be sent as a number. */
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

/** Comma-separated tag IDs, ignoring empty ones. `removable` allows `-id`, which removes the tag. */
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

/** Whether a number arrived exactly as it was sent: an integer above 2^53 may have been rounded. */
export const isExact = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));

const scalarForm = `must be text of at most ${limits.attrValueLength} characters, a number that a 64-bit float represents exactly, or true or false`;
const scalar = coerced<string | number | boolean, string>(
  (input) => (isExact(input) || typeof input === 'boolean' ? String(input) : input),
  storableText(limits.attrValueLength, scalarForm),
).meta({
  sent: {
    anyOf: [{ type: 'string', maxLength: limits.attrValueLength }, { type: 'number' }, { type: 'boolean' }],
  },
});
export const attrValue = describe(
  scalar,
  'The attribute’s value. Numbers, true and false are stored as text.',
  'Stone teapot',
);
const removableValue = describe(
  scalar.nullable(),
  'The attribute’s value. Numbers, true and false are stored as text; null removes the attribute.',
  'Stone teapot',
);

export const attributeMessage = errorMessage('must be an object with attrID and attrValue', 'object');
export const removableAttribute = z.object({ attrID, attrValue: removableValue }, attributeMessage);

/** A list of attributes in which each attrID occurs only once. */
export const distinctAttributes = <Out extends { attrID: string }, In>(item: z.ZodType<Out, In>) =>
  list(item, limits.attributesPerEvent).superRefine((entries, context) => {
    const ids = new Set<string>();
    entries.forEach(({ attrID }, index) => {
      if (ids.has(attrID)) {
        context.addIssue({ code: 'custom', path: [index, 'attrID'], message: 'is in the list twice' });
      }
      ids.add(attrID);
    });
  });

/** `word,word`, or a list of words. */
export const commaSeparated = <Out, Word extends string>(schema: z.ZodType<Out, readonly Word[]>) =>
  coerced<string | readonly Word[], Out>((input) => {
    const words = fromJSON(input);
    return typeof words === 'string' ? words.split(',').map((word) => word.trim()) : words;
  }, schema);

/** `word,word`: the optional parts of a response to include. */
export const include = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  commaSeparated<Words[number][], Words[number]>(
    z.array(z.enum(words, `must contain only: ${words.join(', ')}`)) as unknown as z.ZodType<
      Words[number][],
      readonly Words[number][]
    >,
  );

export const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, errorMessage(`must be one of: ${words.join(', ')}`));

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

const currencyForm = 'must be an uppercase ISO 4217 currency code, such as EUR';
export const currency = name
  .refine((value) => Intl.supportedValuesOf('currency').includes(value), currencyForm)
  .meta({ form: currencyForm, example: 'EUR' });

/** A filter by an attribute, which must be present or, with `attrValue`, have that value. */
export const attributeFilter = (what: 'events' | 'contacts') => ({
  attrID: describe(optional(attrID), `Only ${what} with this attribute.`),
  attrValue: describe(
    optional(text(limits.attrValueLength)),
    `With \`attrID\`: only ${what} in which the attribute has this value.`,
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
