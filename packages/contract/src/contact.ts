/** Contacts: creating, reading, updating, finding, exporting and erasing them. */
import * as z from 'zod';
import { attributes } from './attributes.ts';
import { attribute, event } from './event.ts';
import * as field from './fields.ts';
import { limits } from './limits.ts';
import { count, flag, isoTime, problem, response, responseText, text } from './response.ts';

/** Every personal field except the e-mail address and the profile, each with this schema. */
const personal = <Schema extends z.ZodType>(schema: Schema) => ({
  contactTitle: field.describe(schema, "The contact's title.", 'Dr'),
  contactFirstname: field.describe(schema, "The contact's first name.", 'Ann'),
  contactLastname: field.describe(schema, "The contact's last name.", 'Potter'),
  contactTelephone: field.describe(schema, "The contact's telephone number.", '020 7946 0000'),
  contactMobile: field.describe(schema, "The contact's mobile number.", '07700 900000'),
  contactJobRole: field.describe(schema, "The contact's job.", 'Teapot painter'),
});

const profileID = field.describe(field.profileID, "The contact's profile.");
export const contactStatuses = ['active', 'archived', 'unsubscribed'] as const;
export type ContactStatus = (typeof contactStatuses)[number];

const contactStatus =
  "The contact's status: `active`, `archived` or `unsubscribed`. Firsthand treats all three the same: exclude `unsubscribed` contacts from your mailings yourself.";

const createFields = {
  ...personal(field.optional(field.name)),
  contactExternalID: field
    .optional(field.externalID)
    .describe(
      'Your own ID for the contact, unique in the account. With a server token it takes precedence over the e-mail address; with a browser token it is a claim.',
    ),
  contactEmailaddress: field
    .optional(field.email)
    .describe("The contact's e-mail address. Required without a contactExternalID."),
  contactProfileID: profileID,
  contactTagID: field.describe(field.optional(field.tagIDs(false)), 'Tags to add to the contact.', 'newsletter,vip'),
  contactAttr: field.optional(attributes).describe('Attributes to add to the contact.'),
};

const updateFields = {
  ...personal(field.clearable(field.name)),
  contactProfileID: field.clearable(profileID),
  contactTagID: field.describe(
    field.optional(field.tagIDs(true)),
    'Tags to add to the contact. A tag with a leading `-` is removed.',
    'vip,-newsletter',
  ),
  contactAttr: field
    .optional(field.distinctAttributes(field.removableAttribute))
    .describe('Attributes to change. An attrValue of null removes the attribute.'),
  contactStatus: field.describe(field.optional(field.oneOf(contactStatuses)), contactStatus, 'unsubscribed'),
};

export const keyProblem = {
  path: ['contactEmailaddress'],
  message: 'is required unless `contactExternalID` is given',
};
export const hasKey = (input: {
  contactExternalID?: string | null | undefined;
  contactEmailaddress?: string | undefined;
}) => typeof input.contactExternalID === 'string' || input.contactEmailaddress !== undefined;

/** Like `contactKeys`, but when a contactUUID identifies the contact, null clears the external ID. */
const keysToUpdate = {
  ...field.contactKeys,
  contactExternalID: field
    .clearable(field.externalID)
    .describe(
      'Your own ID for the contact, which identifies the contact. Together with a contactUUID, it is the new value; null clears it.',
    ),
};

export const createContactInput = z
  .object({
    userUUID: field
      .optional(field.userUUID)
      .describe('The user to link to the contact. Optional only with a server token and a contactExternalID.'),
    ...createFields,
    requestUUID: field
      .optional(field.requestUUID)
      .describe(
        `Identifies one of the user’s requests: a duplicate within ${limits.repeatDays} days returns the first response and changes nothing.`,
      ),
    contactProof: field.describe(
      field.optional(field.text(128)),
      `With a browser token: your server's proof, valid for ${limits.proofMinutes} minutes, that the address, or the contactExternalID if there is no address, belongs to this visitor.`,
      '1793525400.5f0c6d1b2a3e4f5a6b7c8d9e0f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c',
    ),
  })
  .refine(hasKey, keyProblem)
  .refine(({ userUUID, contactExternalID }) => userUUID !== undefined || contactExternalID !== undefined, {
    path: ['userUUID'],
    message: `${field.required}: createContact links a visitor. Without one, send a contactExternalID or use createContacts`,
  });

export const createContactOutput = response({
  exists: flag(
    'Whether the contact already existed. For a browser token: whether this user’s last request had the same key.',
    false,
  ),
  contactUUID: responseText(field.contactUUID).describe(
    'The contact. For a browser token: a handle that only that token can use.',
  ),
});

/** One contact in createContacts: the same fields as createContact with a server token, but the user is optional. */
export const batchContact = z
  .object(
    {
      userUUID: field.describe(
        field.optional(field.userUUID),
        'The user to link to the contact. If absent, no user is linked.',
      ),
      ...createFields,
    },
    field.errorMessage('must be an object', 'object'),
  )
  .refine(hasKey, keyProblem)
  .meta({
    example: {
      contactExternalID: 'customer-1042',
      contactEmailaddress: 'ann@shop.example',
      contactProfileID: 'customer',
    },
  });

/**
 * A batch whose contacts are checked one by one with `batchContact`, so that an invalid contact does not fail the
 * others.
 */
export const createContactsInput = z.object({
  contact: field
    .list(z.unknown(), limits.contactsPerBatch)
    .refine((contacts) => contacts.length > 0, 'must contain at least one contact')
    .describe(`The contacts, at most ${limits.contactsPerBatch}.`),
});

export const createContactsOutput = response({
  contact: z
    .array(
      z.object({
        status: text('This contact’s status.', '200'),
        exists: flag('Whether the contact already existed.', false).optional(),
        contactUUID: responseText(field.contactUUID).optional(),
        error: problem.optional().describe('Why this contact was rejected.'),
      }),
    )
    .describe('The result for each contact, in request order.'),
});

export const getContactInput = z
  .object({
    ...field.contactKeys,
    include: field.describe(
      field.optional(field.include(['claim', 'link', 'merge'])),
      'Extra data to include in the response: claims, linked users, merged contacts.',
    ),
    cursor: field
      .optional(field.cursor)
      .describe(
        'The `nextCursor` of the previous page. Returns the next page of the claims and links that `include` requests.',
      ),
  })
  .refine(...field.identifiesContact());

const tag = z.object({
  tagID: responseText(field.tagID),
  tagName: text('The tag’s name.', 'Newsletter'),
  opt: flag('Whether the contact has the tag.'),
});

export const contact = z.object({
  contactUUID: responseText(field.contactUUID),
  contactExternalID: text('Your own ID for the contact; "" if it has none.', 'customer-1042'),
  ...personal(z.string()),
  contactEmailaddress: text('The e-mail address of the contact; "" if it has none.', 'ann@shop.example'),
  contactProfileID: responseText(profileID),
  contactProfileName: text('The profile’s name.', 'Customer'),
  tag: z.array(tag).describe('Every tag in the catalogue.'),
  contactAttr: z.array(attribute).describe("The contact's attributes."),
  contactStatus: text(contactStatus, 'active'),
  createdTime: isoTime('When the contact was created.'),
  updatedTime: isoTime('When the contact was last changed.'),
  claimed: z
    .array(text('A field’s name.', 'contactJobRole'))
    .describe('The names of fields whose values come only from a claim.'),
});

export const claim = z.object({
  claimID: responseText(field.claimID),
  contactUUID: responseText(field.contactUUID),
  userUUID: responseText(field.userUUID),
  tokenID: responseText(field.tokenID).describe('The browser token that made the claim.'),
  linkID: responseText(field.linkID).describe('The link that the claim created.'),
  createdTime: isoTime('When the claim was made.'),
  updatedTime: isoTime('When the claim was last changed.'),
  state: field.describe(
    z.enum(['open', 'accepted', 'voided']),
    'Whether the claim is open, accepted or voided.',
    'open',
  ),
  contact: contact
    .omit({ contactUUID: true, tag: true, contactStatus: true, createdTime: true, updatedTime: true, claimed: true })
    .extend({ contactTagID: text('The tags, separated by commas.', 'newsletter') })
    .describe('The values that the browser sent.'),
});

export const link = z.object({
  linkID: responseText(field.linkID),
  userUUID: responseText(field.userUUID),
  contactUUID: text('The contact; "" for an unlink.', 'V1StGXR8_Z5jdHi6B-myT'),
  linkTime: isoTime('When the link was created.'),
  verified: flag('Whether a server token created or confirmed the link. If not, the link comes from a claim.'),
  voided: flag('Whether the link is ignored.', false),
  current: flag('Whether this link currently connects the user to the contact.'),
});

const merge = z.object({
  contactUUID: responseText(field.contactUUID),
  contactExternalID: text('The external ID of the merged contact itself, or "".', 'customer-1042'),
  contactFirstname: text('The first name of the merged contact itself, or "".', 'Ann'),
  contactLastname: text('The last name of the merged contact itself, or "".', 'Lemon'),
  contactEmailaddress: text('The e-mail address of the merged contact itself, or "".', 'ann@work.example'),
  intoContactUUID: responseText(field.contactUUID).describe(
    'The contact that this one was merged into, which may itself be merged.',
  ),
  mergedTime: isoTime('When the contacts were merged.'),
});

export const getContactOutput = response({
  contact: contact.describe('The contact.'),
  claim: z.array(claim).optional().describe('With `include=claim`: claims, oldest first.'),
  claimCount: count('The number of claims on all pages.', 1).optional(),
  link: z.array(link).optional().describe('With `include=link`: links, oldest first.'),
  linkCount: count('The number of links on all pages.', 1).optional(),
  merge: z
    .array(merge)
    .optional()
    .describe('With `include=merge`, on the first page: the contacts merged into this one, oldest merge first.'),
  mergeCount: count('The number of merged contacts, of which only the newest are listed.', 1).optional(),
  nextCursor: text('With `include`: "" on the last page of claims and links.', '').optional(),
});

export const updateContactInput = z.object({ ...keysToUpdate, ...updateFields }).refine(...field.identifiesContact());

export const updateContactOutput = response({
  contactUUID: responseText(field.contactUUID),
  updated: z
    .array(text('A field’s name.', 'contactTelephone'))
    .describe('The names of the fields whose values changed.'),
});

export const searchContactInput = z
  .object({
    text: field.describe(
      field.optional(field.name),
      'Only contacts whose name or e-mail address contains this text.',
      'ann',
    ),
    contactExternalID: field.describe(
      field.optionalFilter(field.externalID),
      'Only the contact with this external ID.',
    ),
    contactEmailaddress: field.optionalFilter(field.email),
    segment: field.describe(
      field.optionalFilter(field.segmentName),
      'Only contacts in this segment: those with an event that matches its filter. Can be combined with all other filters except the external ID and the e-mail address. Contacts are sorted by their newest matching event.',
      'Buyers',
    ),
    contactProfileID: field.describe(field.optional(field.profileID), 'Only contacts with this profile.'),
    contactTagID: field.describe(field.optional(field.tagID), 'Only contacts with this tag.', 'vip'),
    ...field.attributeFilter('contacts'),
    createdFrom: field.describe(
      field.optional(field.time),
      'Only contacts created at this time or later.',
      '2026-11-01T00:00:00Z',
    ),
    createdTo: field.describe(
      field.optional(field.time),
      'Only contacts created before this time.',
      '2099-01-01T00:00:00Z',
    ),
    contactStatus: field.describe(
      field.optional(field.oneOf(contactStatuses)),
      'Only contacts with this status.',
      'active',
    ),
    seenFrom: field.describe(
      field.optional(field.time),
      'Only contacts last seen at this time or later.',
      '2026-11-01T00:00:00Z',
    ),
    seenTo: field.describe(
      field.optional(field.time),
      'Only contacts last seen before this time.',
      '2099-01-01T00:00:00Z',
    ),
    sort: field.describe(
      field.optional(field.oneOf(['created', 'seen'])),
      'The sort order: by createdTime, or by lastSeenTime with contacts that have none first; `created` by default.',
      'created',
    ),
    order: field.describe(
      field.optional(field.oneOf(['asc', 'desc'])),
      'Ascending or descending; `asc` by default.',
      'asc',
    ),
    limit: field.optional(field.pageLimit(limits.contactsPerPage)),
    cursor: field.optional(field.cursor),
    include: field.describe(
      field.optional(field.include(['count', 'touch'])),
      'Extra data to include: `count`, the total number of contacts, with the first page; `touch`, `firstTouch` and `lastTouch` of each contact.',
    ),
  })
  .refine(field.isAttributePair, field.attributePairProblem)
  .superRefine((input, context) => {
    for (const name of ['contactExternalID', 'contactEmailaddress', 'sort', 'order'] as const)
      if (input.segment !== undefined && input[name] !== undefined)
        context.addIssue({ code: 'custom', path: [name], message: 'must be absent with `segment`' });
  });

const nextCursor = text(
  'The cursor of the next page; "" on the last page. Any page may contain fewer than `limit` contacts, or none.',
  '',
);

/** The attributes in a touch. Reports have dimensions for them, too. */
export const touchAttributes = ['path', 'utm_source', 'utm_medium', 'utm_campaign'] as const;

const touch = (which: 'first' | 'last') =>
  z
    .object({
      eventTime: isoTime(`The time of the contact's ${which} event.`),
      path: text(`The path in the ${which} event that has one, or "".`, '/teapots'),
      utm_source: text(`The source in the ${which} event that has one, or "".`, 'newsletter'),
      utm_medium: text(`The medium in the ${which} event that has one, or "".`, 'email'),
      utm_campaign: text(`The campaign in the ${which} event that has one, or "".`, 'spring'),
      referrerHost: text(
        `The host in the ${which} event's \`referrer\`, or "". Hosts of the account's own sites are left out.`,
        'www.google.com',
      ),
    })
    .optional()
    .describe(
      `With \`include=touch\`: the ${which} values in the contact's events, from all its browsers, without bots. Absent if the contact has no events.`,
    );

export const searchContactOutput = response({
  contact: z
    .array(
      contact.extend({
        tag: z.array(tag).describe("Only the contact's own tags."),
        lastSeenTime: isoTime(
          "The day, in UTC, on which the contact's newest event was received. Absent if the contact has no events. If a browser changed from one contact to another on that day, the day counts for both.",
          '2026-11-01T00:00:00.000Z',
        ).optional(),
        firstTouch: touch('first'),
        lastTouch: touch('last'),
      }),
    )
    .describe('The contacts.'),
  count: count(
    `With \`include=count\`, on the first page: the number of contacts on all pages. Absent with \`segment\`, and if more than ${limits.contactsCountedByText.toLocaleString('en')} match \`text\`.`,
    45,
  ).optional(),
  nextCursor,
});

export const exportContactInput = z
  .object({
    ...field.contactKeys,
    limit: field
      .optional(field.pageLimit(limits.eventsPerPage))
      .describe('The maximum number of events per page; 1,000 by default.'),
    cursor: field.optional(field.cursor),
  })
  .refine(...field.identifiesContact());

const valueAt = (when: string, example: string) =>
  z.string().nullable().describe(`The value ${when} the import; null for none.`).meta({ example });

const contactImport = z.object({
  importID: responseText(field.importID),
  importName: text('The file’s name.', 'contacts-2026-11.csv'),
  importedTime: isoTime('When the import began.'),
  created: flag('Whether the import created the contact.', false),
  change: z
    .array(
      z.object({
        field: text('The field, `contactTagID.` with a tag, or `contactAttr.` with an attribute.', 'contactFirstname'),
        before: valueAt('before', 'Anne'),
        after: valueAt('after', 'Ann'),
      }),
    )
    .describe('What the import changed in an existing contact; an undo restores it.'),
});

export const exportContactOutput = response({
  contact: contact.describe('The contact.'),
  claim: z.array(claim).describe('All claims, oldest first, paginated. Empty on pages past the last claim.'),
  link: z.array(link).describe('All links, oldest first, paginated. Empty on pages past the last link.'),
  import: z
    .array(contactImport)
    .describe(`The last ${limits.importsPerPage} imports that created or changed the contact. Empty on later pages.`),
  event: z.array(event).describe("The contact's events, paginated."),
  nextCursor,
});

export const eraseContactInput = z
  .object({
    ...field.contactKeys,
    verifiedOnly: field.describe(
      field.optional(field.flag),
      'Keeps events that belong to the contact only through claims. They become anonymous.',
      false,
    ),
  })
  .refine(...field.identifiesContact());

export const eraseContactOutput = response({
  contactUUID: responseText(field.contactUUID),
  erasedTime: isoTime('When the contact was erased. No read returns it after this time.'),
  deletedEvents: count('The number of events deleted so far. Repeat the call for the current number.', 0),
  complete: flag("Whether all events are deleted, including from the reports' files.", false),
});

/**
 * A contact in a createAccount or updateAccount request. It is handled as in createContact or, with a contactUUID, as
 * in updateContact, but needs no userUUID.
 */
export const accountContact = z
  .object({ ...keysToUpdate, ...updateFields }, field.errorMessage('must be an object', 'object'))
  .refine(...field.identifiesContact())
  .meta({ example: { contactEmailaddress: 'bob@shop.example', contactFirstname: 'Bob' } });
