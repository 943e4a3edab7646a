/** Accounts, their catalogues and their tokens. */
import * as z from 'zod';
import { answer, count, eventID, flag, isoTime, mark, problem, text, told } from '../answer.ts';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import { parseOrigin } from '../origins.ts';
import { accountTokenKinds } from './tokens.ts';

const attrTypes = ['text', 'number', 'date', 'currency', 'boolean'] as const;

const entryName = (example: string) => field.described(field.optional(field.name), 'Its name, for people.', example);
const forAll = {
  browser: field.described(field.optional(field.flag), 'Whether browser tokens may use it.', true),
  remove: field.described(
    field.optional(field.flag),
    'Takes the entry out of the catalogue. 409 `id_in_use` while a contact or an event uses it, and, with `force` too, while it is merged or others are merged into it.',
    false,
  ),
  force: field.described(
    field.optional(field.flag),
    'With `remove`: removes the entry although it is in use, and takes the profile, tag or attribute away from every contact. Events stay as they are; an event without its name shows its ID.',
    false,
  ),
};

/** `force` alone would change nothing. */
const isForceOfRemoval = (entry: { remove?: unknown; force?: unknown }) => !entry.force || entry.remove === true;
const forceProblem = { path: ['force'], message: 'must come with `remove`: true' };

const entryOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({ ...shape, ...forAll }, field.says('must be an object', 'object')).refine(isForceOfRemoval, forceProblem);

const listOf = <Out, In>(what: string, entry: z.ZodType<Out, In>, shape: z.ZodRawShape) => {
  const example = Object.entries(shape).map(([name, schema]) => [
    name,
    z.globalRegistry.get(schema as z.ZodType)?.example,
  ]);
  return field.described(
    field.optional(field.list(entry, limits.idsPerCatalogue)),
    `Entries to add to the catalogue of ${what}, or to change. Those that are absent stay.`,
    [Object.fromEntries(example)],
  );
};
const entriesOf = <Shape extends z.ZodRawShape>(what: string, shape: Shape) => listOf(what, entryOf(shape), shape);

const eventShape = {
  eventID: field.described(
    field.optional(field.eventID),
    'Without it, eventName gets the ID that logEvent would give it: the listed one, or the next free one.',
    3,
  ),
  eventName: entryName('Basket filled'),
};
const eventEntry = entryOf(eventShape)
  .refine(({ eventID, eventName, remove }) => eventID !== undefined || (eventName !== undefined && !remove), {
    path: ['eventID'],
    message: `${field.required} unless \`eventName\` is given, and with \`remove\``,
  })
  .refine(({ eventID, eventName = '' }) => eventID !== undefined || field.eventName.safeParse(eventName).success, {
    path: ['eventName'],
    message: 'must be text other than a number when `eventID` is not given',
  });

const attrType = field.described(
  z.enum(attrTypes),
  'What its values mean, for people: they are stored as text.',
  'text',
);

const catalogues = {
  profile: entriesOf('profiles', { profileID: field.profileID, profileName: entryName('Customer') }),
  tag: entriesOf('tags', { tagID: field.tagID, tagName: entryName('Newsletter') }),
  attr: entriesOf('attributes', {
    attrID: field.attrID,
    attrName: entryName('Product'),
    attrType: field.described(field.optional(field.oneOf(attrTypes)), attrType.description ?? '', 'text'),
  }),
  event: listOf('events', eventEntry, eventShape),
};

const originForm = 'must be an origin: https://shop.example or https://*.example.com';
const origin = field.described(
  field.name.refine((value) => parseOrigin(value) !== undefined, originForm).meta({ form: originForm }),
  'An origin.',
  'https://shop.example',
);

const accountName = field.described(field.filledText(limits.nameLength), 'The name of the account.', 'Shop');
const accountTimezone = field.described(field.timezone, 'The time zone in which countEvents counts.');
const currencyMeaning = 'The currency in which pages show sums of attributes of the type `currency`.';
const accountCurrency = field.described(field.currency, currencyMeaning);
const accountOrigin = 'The origins of the pages that may use a browser token. An empty list allows all.';
const strict = field.described(field.flag, 'Whether an ID that no catalogue lists is refused.', false);
const browserCatalogue = field.described(
  field.flag,
  'Whether profiles, tags and attributes that browser tokens use are added to the catalogue.',
  false,
);
const enrich = field.described(
  field.flag,
  'Whether events of browser tokens get labels: browser, operating system, kind of device, country.',
  true,
);

const settings = {
  accountOrigin: field.optional(field.list(origin, limits.originsPerAccount)).describe(accountOrigin),
  accountTimezone: field.optional(accountTimezone),
  accountCurrency: field.described(
    field.clearable(accountCurrency),
    `${currencyMeaning} null: none, and pages show numbers without a currency.`,
    'EUR',
  ),
  strict: field.optional(strict),
  browserCatalogue: field.optional(browserCatalogue),
  enrich: field.optional(enrich),
  ...catalogues,
  contact: field
    .optional(field.list(z.unknown(), limits.contactsPerAccountBody))
    .describe('Contacts to create or to change. Each has its own status in the response.'),
};

/** The result for one contact in a body of createAccount or updateAccount; each contact is checked with `accountContact`. */
const accountContactResult = z.object({
  status: text('The status of this contact.', '200'),
  exists: flag('Whether the contact existed before.', false).optional(),
  contactUUID: told(field.contactUUID).optional(),
  error: problem.optional().describe('Why this contact was refused.'),
});
const contactResults = z
  .array(accountContactResult)
  .describe('The result of each contact, in the order of the request.');

export const createAccountInput = z.object({ accountName, ...settings });
export const createAccountOutput = answer({
  accountUUID: told(field.accountUUID),
  browserTokenUUID: text('A browser token, for pages.', 'browser_4kQwYb5rEv7uJc1LzT8nX2'),
  serverTokenUUID: text('A server token. Returned only by this call.', 'server_b5rEv7uJc1LzT8nX24kQwY'),
  contact: contactResults,
});

const which = {
  accountUUID: field.described(
    field.optional(field.accountUUID),
    'The account. Required with an operator token; other tokens name their own account, or none.',
  ),
};

export const updateAccountInput = z.object({
  ...which,
  accountName: field.described(field.optional(field.name), 'The name of the account.', 'Shop'),
  ...settings,
});
export const updateAccountOutput = answer({
  accountUUID: told(field.accountUUID),
  updated: z
    .array(text('The name of a field.', 'accountTimezone'))
    .describe('The names of the fields whose value changed, without `contact`.'),
  contact: contactResults,
});

export const getAccountInput = z.object(which);

const browser = flag('Whether a browser token may use it.');
const mergedInto = 'The ID of the entry that stands for this one. Absent unless this one is merged.';
const entries = <Shape extends z.ZodRawShape>(what: string, shape: Shape) =>
  z.array(z.object({ ...shape, browser })).describe(`The catalogue of ${what}.`);
const nameOf = (example: string) => text('Its name, for people; its ID where nobody gave it a name.', example);

const tokenKind = field.described(
  z.enum(accountTokenKinds),
  '`browser` is public, `viewer` reads, `editor` also changes contacts, catalogues, segments and views, and shares reports, `server` does all that an account may.',
  'viewer',
);
const tokenName = 'The name of the token, for people.';
const revokedTime = isoTime('When the token was revoked.');
const expiresTime = isoTime('When the token stops working.', '2099-01-01T00:00:00.000Z').optional();

export const account = z
  .object({
    accountUUID: told(field.accountUUID),
    accountName: told(accountName),
    accountOrigin: z.array(told(origin)).describe(accountOrigin),
    accountTimezone: told(accountTimezone),
    accountCurrency: text(`${currencyMeaning} "" for none.`, 'EUR'),
    strict: flag(strict.description ?? '', false),
    browserCatalogue: flag(browserCatalogue.description ?? '', false),
    enrich: flag(enrich.description ?? '', true),
    createdTime: isoTime('When the account was created.'),
    profile: entries('profiles', {
      profileID: told(field.profileID),
      profileName: nameOf('Customer'),
      mergedInto: text(mergedInto, 'customer').optional(),
    }),
    tag: entries('tags', {
      tagID: told(field.tagID),
      tagName: nameOf('Newsletter'),
      mergedInto: text(mergedInto, 'newsletter').optional(),
    }),
    attr: entries('attributes', {
      attrID: told(field.attrID),
      attrName: nameOf('Product'),
      attrType,
      mergedInto: text(mergedInto, 'product').optional(),
    }),
    event: entries('events', {
      eventID,
      eventName: nameOf('Basket filled'),
      byBrowser: mark(
        'Only browser tokens have used it: no server has, and updateAccount has not listed it.',
      ).optional(),
      mergedInto: eventID.describe(mergedInto).optional(),
    }),
    token: z
      .array(
        z.object({
          tokenID: told(field.tokenID),
          tokenKind,
          tokenName: text(tokenName, 'reports'),
          tokenUUID: text(
            'The text of a browser token, which is public. Absent for secret tokens.',
            'browser_4kQwYb5rEv7uJc1LzT8nX2',
          ).optional(),
          createdTime: isoTime('When the token was created.'),
          createdBy: text('The tokenID of the token that made it; "" for the command line.', ''),
          expiresTime,
          memberID: text(
            'The member whose access this is: of a session, who signed in. Absent for other tokens.',
            'm9Tn2kQwYb5rEv7uJc1Lz',
          ).optional(),
          session: mark('A session of the console, which ends by itself. Revoking it signs out.'),
          lastUsedTime: isoTime('The hour in which it was last used.', '2026-11-01T09:00:00.000Z').optional(),
          revokedTime: revokedTime.optional(),
        }),
      )
      .optional()
      .describe('The tokens of the account. Absent for a viewer or editor token.'),
    usage: z
      .object({
        contacts: count('Contacts of the account.', 120),
        users: count('Users of the account.', 4_500),
        events: count('Events of the account.', 250_000),
        storedBytes: count('An estimate of what the account stores.', 31_000_000),
      })
      .describe('How much the account has.'),
    limits: z
      .record(z.string(), field.described(z.number().nullable(), 'A limit.', limits.eventsPerBatch))
      .describe(
        'The limits of the service, by name. accountBytes is the quota for usage.storedBytes; null when there is none.',
      ),
  })
  .describe('The account.');
export const getAccountOutput = answer({ account });

export const createTokenInput = z.object({
  ...which,
  tokenKind: field.described(field.oneOf(accountTokenKinds), tokenKind.description ?? '', 'viewer'),
  tokenName: field.described(field.optional(field.name), tokenName, 'reports'),
  expiresTime: field.described(
    field.optional(field.time),
    'When the token stops working; never if absent.',
    '2099-01-01T00:00:00Z',
  ),
});
export const createTokenOutput = answer({
  tokenID: told(field.tokenID),
  tokenKind: told(tokenKind),
  tokenUUID: text(
    'The token itself. That of a secret token is returned only by this call.',
    'viewer_b5rEv7uJc1LzT8nX24kQwY',
  ),
  expiresTime,
});

export const revokeTokenInput = z.object({
  ...which,
  tokenID: field.tokenID,
  descendants: field.described(
    field.optional(field.flag),
    'Also revokes the tokens that this token created, directly or not.',
    true,
  ),
});
export const revokeTokenOutput = answer({
  tokenID: told(field.tokenID),
  revokedTime,
  descendants: count(
    'With descendants=true: the number of tokens that this token had created, directly or not, and that were revoked with it.',
    0,
  ).optional(),
});
