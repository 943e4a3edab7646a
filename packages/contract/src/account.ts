/** Accounts, their catalogues and their tokens. */
import * as z from 'zod';
import { answer, count, isoTime, problem } from './answer.ts';
import * as field from './fields.ts';
import { limits } from './limits.ts';
import { parseOrigin } from './origins.ts';
import { accountTokenKinds } from './tokens.ts';

const attrTypes = ['text', 'number', 'date', 'currency', 'boolean'] as const;

const entryName = field.optional(field.name);
const forAll = {
  browser: field.optional(field.flag),
  remove: field
    .optional(field.flag)
    .describe('Takes the entry out of the catalogue. 409 `id_in_use` while a contact or an event uses it.'),
};

const entryOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({ ...shape, ...forAll }, field.says('must be an object', 'object'));

const entriesOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  field.optional(field.list(entryOf(shape), limits.idsPerCatalogue));

const eventEntry = entryOf({
  eventID: field
    .optional(field.eventID)
    .describe('Without it, eventName gets the ID that logEvent would give it: the listed one, or the next free one.'),
  eventName: entryName,
})
  .refine(({ eventID, eventName, remove }) => eventID !== undefined || (eventName !== undefined && !remove), {
    path: ['eventID'],
    message: `${field.required} unless \`eventName\` is given, and with \`remove\``,
  })
  .refine(({ eventID, eventName = '' }) => eventID !== undefined || field.eventName.safeParse(eventName).success, {
    path: ['eventName'],
    message: 'must be text other than a number when `eventID` is not given',
  });

const catalogues = {
  profile: entriesOf({ profileID: field.catalogueID, profileName: entryName }),
  tag: entriesOf({ tagID: field.catalogueID, tagName: entryName }),
  attr: entriesOf({
    attrID: field.catalogueID,
    attrName: entryName,
    attrType: field.optional(field.oneOf(attrTypes)),
  }),
  event: field.optional(field.list(eventEntry, limits.idsPerCatalogue)),
};

const origin = field.name.refine(
  (value) => parseOrigin(value) !== undefined,
  'must be an origin: https://shop.example or https://*.example.com',
);

const settings = {
  accountOrigin: field.optional(field.list(origin, limits.originsPerAccount)),
  accountTimezone: field.optional(field.timezone),
  strict: field.optional(field.flag),
  browserCatalogue: field.optional(field.flag),
  ...catalogues,
  contact: field.optional(field.list(z.unknown(), limits.contactsPerAccountBody)),
};

/** The result for one contact in a body of createAccount or updateAccount; each contact is checked with `accountContact`. */
const accountContactResult = z.object({
  status: z.string(),
  exists: z.boolean().optional(),
  contactUUID: z.string().optional(),
  error: problem.optional(),
});

export const createAccountInput = z.object({ accountName: field.filledText(limits.nameLength), ...settings });
export const createAccountOutput = answer({
  accountUUID: z.string(),
  browserTokenUUID: z.string(),
  serverTokenUUID: z.string().describe('Returned only by this call.'),
  contact: z.array(accountContactResult),
});

const which = { accountUUID: field.optional(field.filledText(limits.nameLength)) };

export const updateAccountInput = z.object({ ...which, accountName: field.optional(field.name), ...settings });
export const updateAccountOutput = answer({
  accountUUID: z.string(),
  updated: z.array(z.string()).describe('The names of the fields whose value changed, without `contact`.'),
  contact: z.array(accountContactResult),
});

export const getAccountInput = z.object(which);

const browser = z.boolean().describe('Whether a browser token may use it.');
export const account = z.object({
  accountUUID: z.string(),
  accountName: z.string(),
  accountOrigin: z.array(z.string()),
  accountTimezone: z.string(),
  strict: z.boolean(),
  browserCatalogue: z
    .boolean()
    .describe('Whether profiles, tags and attributes that browser tokens use are added to the catalogue.'),
  createdTime: isoTime,
  profile: z.array(z.object({ profileID: z.string(), profileName: z.string(), browser })),
  tag: z.array(z.object({ tagID: z.string(), tagName: z.string(), browser })),
  attr: z.array(z.object({ attrID: z.string(), attrName: z.string(), attrType: z.enum(attrTypes), browser })),
  event: z.array(z.object({ eventID: z.number().int(), eventName: z.string(), browser })),
  token: z
    .array(
      z.object({
        tokenID: z.string(),
        tokenKind: z.enum(accountTokenKinds),
        tokenName: z.string(),
        tokenUUID: z
          .string()
          .optional()
          .describe('The text of a browser token, which is public. Absent for secret tokens.'),
        createdTime: isoTime,
        createdBy: z.string().describe('The tokenID of the token that made it; "" for the command line.'),
        expiresTime: isoTime.optional(),
        lastUsedTime: isoTime.optional().describe('The hour in which it was last used.'),
        revokedTime: isoTime.optional(),
      }),
    )
    .optional()
    .describe('Absent for a viewer token.'),
  usage: z.object({
    contacts: count,
    users: count,
    events: count,
    storedBytes: count.describe('An estimate of what the account stores.'),
  }),
  limits: z
    .record(z.string(), z.number().nullable())
    .describe('accountBytes is the quota for usage.storedBytes; null when there is none.'),
});
export const getAccountOutput = answer({ account });

export const createTokenInput = z.object({
  ...which,
  tokenKind: field.oneOf(accountTokenKinds),
  tokenName: field.optional(field.name),
  expiresTime: field.optional(field.time),
});
export const createTokenOutput = answer({
  tokenID: z.string(),
  tokenKind: z.string(),
  tokenUUID: z.string(),
  expiresTime: isoTime.optional(),
});

export const revokeTokenInput = z.object({
  ...which,
  tokenID: field.filledText(limits.nameLength),
  descendants: field.optional(field.flag),
});
export const revokeTokenOutput = answer({
  tokenID: z.string(),
  revokedTime: isoTime,
  descendants: count
    .optional()
    .describe(
      'With descendants=true: the number of tokens that this token had created, directly or not, and that were revoked with it.',
    ),
});
