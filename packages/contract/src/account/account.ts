/** Accounts, their catalogues and their tokens. */
import * as z from 'zod';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import { parseOrigin } from '../origins.ts';
import { count, eventID, flag, isoTime, problem, response, responseText, text, trueOrAbsent } from '../response.ts';
import { accountTokenKinds } from './tokens.ts';

const attrTypes = ['text', 'number', 'date', 'currency', 'boolean'] as const;

const entryName = (example: string) => field.describe(field.optional(field.name), 'The entry’s display name.', example);
const commonFields = {
  browser: field.describe(field.optional(field.flag), 'Whether browser tokens may use the entry.', true),
  remove: field.describe(
    field.optional(field.flag),
    'Removes the entry from the catalogue. Fails with 409 `id_in_use` while a contact or an event uses the entry. Even with `force`, fails while the entry is merged into another one, or others are merged into it.',
    false,
  ),
  force: field.describe(
    field.optional(field.flag),
    'With `remove`: removes the entry even if it is in use, and removes the profile, tag or attribute from every contact. Events do not change; an event whose kind was removed shows its ID as its name.',
    false,
  ),
};

/** `force` alone has no effect. */
const hasRemoveWithForce = (entry: { remove?: unknown; force?: unknown }) => !entry.force || entry.remove === true;
const forceProblem = { path: ['force'], message: 'must come with `remove`: true' };

const entryOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .object({ ...shape, ...commonFields }, field.errorMessage('must be an object', 'object'))
    .refine(hasRemoveWithForce, forceProblem);

const listOf = <Out, In>(what: string, entry: z.ZodType<Out, In>, shape: z.ZodRawShape) => {
  const example = Object.entries(shape).map(([name, schema]) => [
    name,
    z.globalRegistry.get(schema as z.ZodType)?.example,
  ]);
  return field.describe(
    field.optional(field.list(entry, limits.idsPerCatalogue)),
    `Entries to add to the catalogue of ${what}, or to change in it. Other entries do not change.`,
    [Object.fromEntries(example)],
  );
};
const entriesOf = <Shape extends z.ZodRawShape>(what: string, shape: Shape) => listOf(what, entryOf(shape), shape);

const eventShape = {
  eventID: field.describe(
    field.optional(field.eventID),
    'If absent, eventName gets the ID that logEvent would assign: the listed ID or the next free one.',
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

const attrType = field.describe(
  z.enum(attrTypes),
  'How to display the attribute’s values. All values are stored as text.',
  'text',
);

const catalogues = {
  profile: entriesOf('profiles', { profileID: field.profileID, profileName: entryName('Customer') }),
  tag: entriesOf('tags', { tagID: field.tagID, tagName: entryName('Newsletter') }),
  attr: entriesOf('attributes', {
    attrID: field.attrID,
    attrName: entryName('Product'),
    attrType: field.describe(field.optional(field.oneOf(attrTypes)), attrType.description ?? '', 'text'),
  }),
  event: listOf('events', eventEntry, eventShape),
};

const originForm = 'must be an origin: https://shop.example or https://*.example.com';
const origin = field.describe(
  field.name.refine((value) => parseOrigin(value) !== undefined, originForm).meta({ form: originForm }),
  'An origin.',
  'https://shop.example',
);

const accountName = field.describe(field.filledText(limits.nameLength), 'The account’s name.', 'Shop');
const accountTimezone = field.describe(field.timezone, 'The default time zone for counts and reports.');
const currencyMeaning = 'The currency in which the console shows sums of attributes of type `currency`.';
const accountCurrency = field.describe(field.currency, currencyMeaning);
const accountOrigin = 'The origins whose pages may use a browser token. An empty list allows every origin.';
const strict = field.describe(field.flag, 'Whether IDs that are not in a catalogue are rejected.', false);
const browserCatalogue = field.describe(
  field.flag,
  'Whether new profiles, tags and attributes from browser tokens are added to the catalogue.',
  false,
);
const enrich = field.describe(
  field.flag,
  'Whether events from browser tokens are labeled with browser, operating system, device type and country.',
  true,
);
const profileMeaning =
  "The profile of contacts that are created through Segment's API, if the token may use that profile.";
const defaultProfileID = field.describe(field.profileID, profileMeaning);
const userIDIsEmailaddress = field.describe(
  field.flag,
  "Whether the `userId` of messages to Segment's API is the contact's e-mail address. Otherwise it is the contactExternalID.",
  false,
);

const settings = {
  accountOrigin: field.optional(field.list(origin, limits.originsPerAccount)).describe(accountOrigin),
  accountTimezone: field.optional(accountTimezone),
  accountCurrency: field.describe(
    field.clearable(accountCurrency),
    `${currencyMeaning} null removes the currency: sums are then shown without one.`,
    'EUR',
  ),
  strict: field.optional(strict),
  browserCatalogue: field.optional(browserCatalogue),
  enrich: field.optional(enrich),
  defaultProfileID: field.describe(
    field.clearable(defaultProfileID),
    `${profileMeaning} The profile is added to the catalogue. null removes the setting: the default is then the first profile in the catalogue that the token may use.`,
    'customer',
  ),
  userIDIsEmailaddress: field.optional(userIDIsEmailaddress),
  ...catalogues,
  contact: field
    .optional(field.list(z.unknown(), limits.contactsPerAccountBody))
    .describe('Contacts to create or to change. Each has its own status in the response.'),
};

/**
 * The result for one contact in a createAccount or updateAccount request. Each contact is checked with
 * `accountContact`.
 */
const accountContactResult = z.object({
  status: text('This contact’s status.', '200'),
  exists: flag('Whether the contact already existed.', false).optional(),
  contactUUID: responseText(field.contactUUID).optional(),
  error: problem.optional().describe('Why this contact was rejected.'),
});
const contactResults = z.array(accountContactResult).describe('The result for each contact, in request order.');

export const createAccountInput = z.object({ accountName, ...settings });
export const createAccountOutput = response({
  accountUUID: responseText(field.accountUUID),
  browserTokenUUID: text('A browser token, for pages.', 'browser_4kQwYb5rEv7uJc1LzT8nX2'),
  serverTokenUUID: text('A server token. Only this call returns it.', 'server_b5rEv7uJc1LzT8nX24kQwY'),
  contact: contactResults,
});

const accountSelector = {
  accountUUID: field.describe(
    field.optional(field.accountUUID),
    'The account. Required with an operator token. With any other token, omit it or send the account of the token.',
  ),
};

export const updateAccountInput = z.object({
  ...accountSelector,
  accountName: field.describe(field.optional(field.name), 'The account’s name.', 'Shop'),
  ...settings,
});
export const updateAccountOutput = response({
  accountUUID: responseText(field.accountUUID),
  updated: z
    .array(text('A field’s name.', 'accountTimezone'))
    .describe('The names of the fields whose values changed, except `contact`.'),
  contact: contactResults,
});

export const getAccountInput = z.object(accountSelector);

const browser = flag('Whether browser tokens may use the entry.');
const mergedInto = 'The ID of the entry that this entry is merged into. Absent if it is not merged.';
const entries = <Shape extends z.ZodRawShape>(what: string, shape: Shape) =>
  z.array(z.object({ ...shape, browser })).describe(`The catalogue of ${what}.`);
const nameOf = (example: string) => text('The display name, or the ID if the entry is unnamed.', example);

const tokenKind = field.describe(
  z.enum(accountTokenKinds),
  '`browser` is public. `agent` lets an AI agent read counts, at `/mcp` only. `viewer` can only read. `editor` can also change contacts, catalogues, segments and views, and share reports. `server` has full access to the account.',
  'viewer',
);
const tokenName = 'The token’s display name.';
const revokedTime = isoTime('When the token was revoked.');
const expiresTime = isoTime('When the token expires.', '2099-01-01T00:00:00.000Z').optional();

export const account = z
  .object({
    accountUUID: responseText(field.accountUUID),
    accountName: responseText(accountName),
    accountOrigin: z.array(responseText(origin)).describe(accountOrigin),
    accountTimezone: responseText(accountTimezone),
    accountCurrency: text(`${currencyMeaning} "" for none.`, 'EUR'),
    strict: flag(strict.description ?? '', false),
    browserCatalogue: flag(browserCatalogue.description ?? '', false),
    enrich: flag(enrich.description ?? '', true),
    defaultProfileID: text(`${profileMeaning} "" for none.`, 'customer'),
    userIDIsEmailaddress: flag(userIDIsEmailaddress.description ?? '', false),
    createdTime: isoTime('When the account was created.'),
    profile: entries('profiles', {
      profileID: responseText(field.profileID),
      profileName: nameOf('Customer'),
      mergedInto: text(mergedInto, 'customer').optional(),
    }),
    tag: entries('tags', {
      tagID: responseText(field.tagID),
      tagName: nameOf('Newsletter'),
      mergedInto: text(mergedInto, 'newsletter').optional(),
    }),
    attr: entries('attributes', {
      attrID: responseText(field.attrID),
      attrName: nameOf('Product'),
      attrType,
      mergedInto: text(mergedInto, 'product').optional(),
    }),
    event: entries('events', {
      eventID,
      eventName: nameOf('Basket filled'),
      byBrowser: trueOrAbsent(
        'Only browser tokens have used this entry: no server has sent it, and it was not added with updateAccount.',
      ).optional(),
      mergedInto: eventID.describe(mergedInto).optional(),
    }),
    token: z
      .array(
        z.object({
          tokenID: responseText(field.tokenID),
          tokenKind,
          tokenName: text(tokenName, 'reports'),
          tokenUUID: text(
            'The browser token itself, which is public. Absent for secret tokens.',
            'browser_4kQwYb5rEv7uJc1LzT8nX2',
          ).optional(),
          createdTime: isoTime('When the token was created.'),
          createdBy: text('The tokenID of the token that created this one; "" for the command line.', ''),
          expiresTime,
          memberID: text(
            'The member that the token belongs to; for a session, the member who signed in. Absent for other tokens.',
            'm9Tn2kQwYb5rEv7uJc1Lz',
          ).optional(),
          session: trueOrAbsent('A console session, which expires automatically. Revoking it signs the member out.'),
          lastUsedTime: isoTime('The hour in which the token was last used.', '2026-11-01T09:00:00.000Z').optional(),
          revokedTime: revokedTime.optional(),
        }),
      )
      .optional()
      .describe('The account’s tokens. Absent for a viewer or editor token.'),
    usage: z
      .object({
        contacts: count('The number of contacts in the account.', 120),
        users: count('The number of users in the account.', 4_500),
        events: count('The number of events in the account.', 250_000),
        storedBytes: count("An estimate of the account's storage, in bytes.", 31_000_000),
      })
      .describe('The account’s size.'),
    limits: z
      .record(z.string(), field.describe(z.number().nullable(), 'A limit.', limits.eventsPerBatch))
      .describe(
        'This service’s limits, by name. accountBytes is the quota for usage.storedBytes, or null if there is none.',
      ),
  })
  .describe('The account.');
export const getAccountOutput = response({ account });

export const createTokenInput = z.object({
  ...accountSelector,
  tokenKind: field.describe(field.oneOf(accountTokenKinds), tokenKind.description ?? '', 'viewer'),
  tokenName: field.describe(field.optional(field.name), tokenName, 'reports'),
  expiresTime: field.describe(
    field.optional(field.time),
    'When the token expires. If absent, the token never expires.',
    '2099-01-01T00:00:00Z',
  ),
});
export const createTokenOutput = response({
  tokenID: responseText(field.tokenID),
  tokenKind: responseText(tokenKind),
  tokenUUID: text('The token itself. For a secret token, only this call returns it.', 'viewer_b5rEv7uJc1LzT8nX24kQwY'),
  expiresTime,
});

export const revokeTokenInput = z.object({
  ...accountSelector,
  tokenID: field.tokenID,
  descendants: field.describe(
    field.optional(field.flag),
    'Also revokes the tokens that this token created, directly or indirectly.',
    true,
  ),
});
export const revokeTokenOutput = response({
  tokenID: responseText(field.tokenID),
  revokedTime,
  descendants: count(
    'With descendants=true: the number of tokens created by this token, directly or indirectly, that were revoked with it.',
    0,
  ).optional(),
});
