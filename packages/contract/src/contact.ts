/** Contacts: creating, reading, changing, finding, exporting and erasing them. */
import * as z from 'zod';
import { answer, count, flag, isoTime, problem, text, told } from './answer.ts';
import { attributes } from './attributes.ts';
import { attribute, event } from './event.ts';
import * as field from './fields.ts';
import { limits } from './limits.ts';

/** The personal fields except the e-mail address and the profile, each with the schema. */
const personal = <Schema extends z.ZodType>(schema: Schema) => ({
  contactTitle: field.described(schema, "The contact's title.", 'Dr'),
  contactFirstname: field.described(schema, "The contact's first name.", 'Ann'),
  contactLastname: field.described(schema, "The contact's last name.", 'Potter'),
  contactTelephone: field.described(schema, "The contact's telephone number.", '020 7946 0000'),
  contactMobile: field.described(schema, "The contact's mobile number.", '07700 900000'),
  contactJobRole: field.described(schema, "The contact's job.", 'Teapot painter'),
});

const profileID = field.described(field.profileID, "The contact's profile.");
/** The values of a contact's status, as updateContact sets them. */
export const contactStatuses = ['active', 'archived', 'unsubscribed'] as const;
export type ContactStatus = (typeof contactStatuses)[number];

const contactStatus =
  "The contact's status: `active`, `archived` or `unsubscribed`. Firsthand treats all three alike; leave the `unsubscribed` out of your mailings.";

const created = {
  ...personal(field.optional(field.name)),
  contactExternalID: field
    .optional(field.externalID)
    .describe(
      'Your own ID of the contact, unique in the account. With a server token it finds the contact before the e-mail address does; with a browser token it is a claim.',
    ),
  contactEmailaddress: field
    .optional(field.email)
    .describe("The contact's e-mail address. Needed without a contactExternalID."),
  contactProfileID: profileID,
  contactTagID: field.described(field.optional(field.tagIDs(false)), 'Tags to give to the contact.', 'newsletter,vip'),
  contactAttr: field.optional(attributes).describe('Attributes to give to the contact.'),
};

const changed = {
  ...personal(field.clearable(field.name)),
  contactProfileID: field.clearable(profileID),
  contactTagID: field.described(
    field.optional(field.tagIDs(true)),
    'Tags to give to the contact, and after `-` those to take away.',
    'vip,-newsletter',
  ),
  contactAttr: field
    .optional(field.distinctAttributes(field.removableAttribute))
    .describe('Attributes to change. An attrValue of null removes the attribute.'),
  contactStatus: field.described(field.optional(field.oneOf(contactStatuses)), contactStatus, 'unsubscribed'),
};

const keyIsNeeded = {
  path: ['contactEmailaddress'],
  message: 'is required unless `contactExternalID` is given',
};
const hasKey = (input: { contactExternalID?: string | null | undefined; contactEmailaddress?: string | undefined }) =>
  typeof input.contactExternalID === 'string' || input.contactEmailaddress !== undefined;

/** As `named`, with an external ID that null clears when another field names the contact. */
const namedToChange = {
  ...field.named,
  contactExternalID: field
    .clearable(field.externalID)
    .describe(
      'Your own ID of the contact. Names the contact; beside a contactUUID it is a new value, and null clears it.',
    ),
};

export const createContactInput = z
  .object({
    userUUID: field
      .optional(field.userUUID)
      .describe(
        'The user to link to the contact. Only a server token may leave it out, and only with a contactExternalID.',
      ),
    ...created,
    requestUUID: field
      .optional(field.requestUUID)
      .describe(
        `Identifies the request of a user: a repeat within ${limits.repeatDays} days gets the response of the first and changes nothing.`,
      ),
    contactProof: field.described(
      field.optional(field.text(128)),
      `With a browser token: proves that your server knows the address, or without one the contactExternalID, to be this visitor's, for ${limits.proofMinutes} minutes.`,
      '1793525400.5f0c6d1b2a3e4f5a6b7c8d9e0f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c',
    ),
  })
  .refine(hasKey, keyIsNeeded)
  .refine(({ userUUID, contactExternalID }) => userUUID !== undefined || contactExternalID !== undefined, {
    path: ['userUUID'],
    message: `${field.required}: createContact is for a visitor. Without one, send a contactExternalID or use createContacts`,
  });

export const createContactOutput = answer({
  exists: flag('Matched to an existing record; for a browser token: this user’s last request had the same key.', false),
  contactUUID: told(field.contactUUID).describe(
    'The contact. For a browser token: a handle, which only that token can use.',
  ),
});

/** One contact of createContacts: as by createContact with a server token, but a user to link is optional. */
export const batchContact = z
  .object(
    {
      userUUID: field.described(field.optional(field.userUUID), 'The user to link to the contact. Nobody, if absent.'),
      ...created,
    },
    field.says('must be an object', 'object'),
  )
  .refine(hasKey, keyIsNeeded)
  .meta({
    example: {
      contactExternalID: 'customer-1042',
      contactEmailaddress: 'ann@shop.example',
      contactProfileID: 'customer',
    },
  });

/** A batch with its contacts unchecked. Each is then checked with `batchContact`: an invalid one does not fail the others. */
export const createContactsInput = z.object({
  contact: field
    .list(z.unknown(), limits.contactsPerBatch)
    .refine((contacts) => contacts.length > 0, 'must hold at least one contact')
    .describe(`The contacts, at most ${limits.contactsPerBatch}.`),
});

export const createContactsOutput = answer({
  contact: z
    .array(
      z.object({
        status: text('The status of this contact.', '200'),
        exists: flag('Matched to an existing record.', false).optional(),
        contactUUID: told(field.contactUUID).optional(),
        error: problem.optional().describe('Why this contact was refused.'),
      }),
    )
    .describe('The result of each contact, in the order of the request.'),
});

export const getContactInput = z
  .object({
    ...field.named,
    include: field.described(
      field.optional(field.include(['claim', 'link', 'merge'])),
      'What to add to the response: claims of browsers, linked users, merged contacts.',
    ),
    cursor: field
      .optional(field.cursor)
      .describe('The `nextCursor` of the page before: returns the next claims and links of `include`.'),
  })
  .refine(...field.namesContact());

const tag = z.object({
  tagID: told(field.tagID),
  tagName: text('The name of the tag.', 'Newsletter'),
  opt: flag('Whether the contact has the tag.'),
});

export const contact = z.object({
  contactUUID: told(field.contactUUID),
  contactExternalID: text('Your own ID of the contact; "" if it has none.', 'customer-1042'),
  ...personal(z.string()),
  contactEmailaddress: text('The e-mail address of the contact; "" if it has none.', 'ann@shop.example'),
  contactProfileID: told(profileID),
  contactProfileName: text('The name of the profile.', 'Customer'),
  tag: z.array(tag).describe('All tags of the catalogue.'),
  contactAttr: z.array(attribute).describe("The contact's attributes."),
  contactStatus: text(contactStatus, 'active'),
  createdTime: isoTime('When the contact was created.'),
  updatedTime: isoTime('When the contact was last changed.'),
  claimed: z
    .array(text('The name of a field.', 'contactJobRole'))
    .describe('Names of the fields that only a claim fills.'),
});

export const claim = z.object({
  claimID: told(field.claimID),
  contactUUID: told(field.contactUUID),
  userUUID: told(field.userUUID),
  tokenID: told(field.tokenID).describe('The browser token that made the claim.'),
  linkID: told(field.linkID).describe('The link that the claim made.'),
  createdTime: isoTime('When the claim was made.'),
  updatedTime: isoTime('When the claim was last changed.'),
  state: field.described(
    z.enum(['open', 'accepted', 'voided']),
    'Whether somebody accepted or voided the claim.',
    'open',
  ),
  contact: contact
    .omit({ contactUUID: true, tag: true, contactStatus: true, createdTime: true, updatedTime: true, claimed: true })
    .extend({ contactTagID: text('The tags, separated by commas.', 'newsletter') })
    .describe('The values that the browser sent.'),
});

export const link = z.object({
  linkID: told(field.linkID),
  userUUID: told(field.userUUID),
  contactUUID: text('The contact; "" for an unlink.', 'V1StGXR8_Z5jdHi6B-myT'),
  linkTime: isoTime('When the link was made.'),
  verified: flag('Whether a server token made or confirmed the link. Otherwise only a claim made it.'),
  voided: flag('Whether the link is ignored.', false),
  current: flag('Whether the user is linked to the contact now, and by this link.'),
});

const merge = z.object({
  contactUUID: told(field.contactUUID),
  contactExternalID: text('Its own external ID, or "".', 'customer-1042'),
  contactFirstname: text('Its own first name, or "".', 'Ann'),
  contactLastname: text('Its own last name, or "".', 'Lemon'),
  contactEmailaddress: text('Its own e-mail address, or "".', 'ann@work.example'),
  intoContactUUID: told(field.contactUUID).describe('The contact that it was merged into, which may be merged itself.'),
  mergedTime: isoTime('When they were merged.'),
});

export const getContactOutput = answer({
  contact: contact.describe('The contact.'),
  claim: z.array(claim).optional().describe('With `include=claim`: claims, oldest first.'),
  claimCount: count('How many claims there are on all pages.', 1).optional(),
  link: z.array(link).optional().describe('With `include=link`: links, oldest first.'),
  linkCount: count('How many links there are on all pages.', 1).optional(),
  merge: z
    .array(merge)
    .optional()
    .describe(
      'With `include=merge`, on the first page: the contacts that are merged into this one, oldest merge first.',
    ),
  mergeCount: count('How many there are; only the newest are listed.', 1).optional(),
  nextCursor: text('With `include`: "" on the last page of claims and links.', '').optional(),
});

export const updateContactInput = z.object({ ...namedToChange, ...changed }).refine(...field.namesContact());

export const updateContactOutput = answer({
  contactUUID: told(field.contactUUID),
  updated: z
    .array(text('The name of a field.', 'contactTelephone'))
    .describe('The names of the fields whose value changed.'),
});

export const searchContactInput = z
  .object({
    text: field.described(field.optional(field.name), 'Text that the name or the e-mail address contains.', 'ann'),
    contactExternalID: field.described(field.whose(field.externalID), 'Only the contact with this external ID.'),
    contactEmailaddress: field.whose(field.email),
    contactProfileID: field.described(field.optional(field.profileID), 'Only contacts with this profile.'),
    contactTagID: field.described(field.optional(field.tagID), 'Only contacts with this tag.', 'vip'),
    ...field.attributeFilter('contacts'),
    createdFrom: field.described(
      field.optional(field.time),
      'Only contacts created at this time or later.',
      '2026-11-01T00:00:00Z',
    ),
    createdTo: field.described(
      field.optional(field.time),
      'Only contacts created before this time.',
      '2099-01-01T00:00:00Z',
    ),
    contactStatus: field.described(
      field.optional(field.oneOf(contactStatuses)),
      'Only contacts with this status.',
      'active',
    ),
    seenFrom: field.described(
      field.optional(field.time),
      'Only contacts with a lastSeenTime at this time or later.',
      '2026-11-01T00:00:00Z',
    ),
    seenTo: field.described(
      field.optional(field.time),
      'Only contacts with a lastSeenTime before this time.',
      '2099-01-01T00:00:00Z',
    ),
    sort: field.described(
      field.optional(field.oneOf(['created', 'seen'])),
      'The order of the contacts: by createdTime, or by lastSeenTime, contacts without one first; `created` if absent.',
      'created',
    ),
    order: field.described(
      field.optional(field.oneOf(['asc', 'desc'])),
      'Ascending or descending; `asc` if absent.',
      'asc',
    ),
    limit: field.optional(field.pageLimit(limits.contactsPerPage)),
    cursor: field.optional(field.cursor),
    include: field.described(
      field.optional(field.include(['count'])),
      'What to add to the first page: how many contacts are on all pages.',
    ),
  })
  .refine(field.isAttributePair, field.attributePairProblem);

const nextCursor = text(
  'The cursor of the next page; "" on the last page. A page before it may hold fewer than `limit`, or none.',
  '',
);

export const searchContactOutput = answer({
  contact: z
    .array(
      contact.extend({
        tag: z.array(tag).describe("Only the contact's own tags."),
        lastSeenTime: isoTime(
          "The day, in UTC, on which the newest of the contact's events was received. Absent if it has none. A day on which a browser went from one contact to another counts for both.",
          '2026-11-01T00:00:00.000Z',
        ).optional(),
      }),
    )
    .describe('The contacts.'),
  count: count(
    `With \`include=count\`, on the first page: the contacts on all pages. Absent where more than ${limits.contactsCountedByText.toLocaleString('en')} contain \`text\`.`,
    45,
  ).optional(),
  nextCursor,
});

export const exportContactInput = z
  .object({
    ...field.named,
    limit: field
      .optional(field.pageLimit(limits.eventsPerPage))
      .describe('The most events of one page; 1,000 if absent.'),
    cursor: field.optional(field.cursor),
  })
  .refine(...field.namesContact());

export const exportContactOutput = answer({
  contact: contact.describe('The contact.'),
  claim: z.array(claim).describe('All claims, oldest first, page by page; empty after the last one.'),
  link: z.array(link).describe('All links, oldest first, page by page; empty after the last one.'),
  event: z.array(event).describe("The contact's events, page by page."),
  nextCursor,
});

export const eraseContactInput = z
  .object({
    ...field.named,
    verifiedOnly: field.described(
      field.optional(field.flag),
      'Keeps events that belong to the contact by claims only. They then belong to nobody.',
      false,
    ),
  })
  .refine(...field.namesContact());

export const eraseContactOutput = answer({
  contactUUID: told(field.contactUUID),
  erasedTime: isoTime('When the contact was erased: no read returns it after this time.'),
  deletedEvents: count('The number of events deleted so far. A repeated call returns the current number.', 0),
  complete: flag('Whether all events are deleted, from the files of reports too.', false),
});

/**
 * A contact in a body of createAccount or updateAccount. It is treated as by createContact or, with a contactUUID, as by
 * updateContact, and needs no userUUID.
 */
export const accountContact = z
  .object({ ...namedToChange, ...changed }, field.says('must be an object', 'object'))
  .refine(...field.namesContact())
  .meta({ example: { contactEmailaddress: 'bob@shop.example', contactFirstname: 'Bob' } });
