/** Contacts: creating, reading, changing, finding, exporting and erasing them. */
import * as z from 'zod';
import { answer, count, isoTime, problem } from './answer.ts';
import { event } from './event.ts';
import * as field from './fields.ts';
import { limits } from './limits.ts';

/** The personal fields except the e-mail address and the profile, each with the schema. */
const personal = <Schema extends z.ZodType>(schema: Schema) => ({
  contactTitle: schema,
  contactFirstname: schema,
  contactLastname: schema,
  contactTelephone: schema,
  contactMobile: schema,
  contactJobRole: schema,
});

const created = {
  ...personal(field.optional(field.name)),
  contactEmailaddress: field.email,
  contactProfileID: field.catalogueID,
  contactTagID: field.optional(field.tagIDs(false)),
  contactAttr: field.optional(field.attributes(field.attribute)),
};

const changed = {
  ...personal(field.clearable(field.name)),
  contactProfileID: field.clearable(field.catalogueID),
  contactTagID: field.optional(field.tagIDs(true)),
  contactAttr: field.optional(field.attributes(field.removableAttribute)),
  contactStatus: field.optional(field.oneOf(['active', 'archived'])),
};

const oneIsNeeded = {
  path: ['contactUUID'],
  message: 'is required unless `contactEmailaddress` is given',
};
const namesContact = (input: { contactUUID?: string | undefined; contactEmailaddress?: string | undefined }) =>
  input.contactUUID !== undefined || input.contactEmailaddress !== undefined;

const named = {
  contactUUID: field.optional(field.contactUUID),
  contactEmailaddress: field.optional(field.email),
};

export const createContactInput = z.object({
  userUUID: field.userUUID,
  ...created,
  requestUUID: field.optional(field.requestUUID),
  contactProof: field.optional(field.text(128)),
});

export const createContactOutput = answer({
  exists: z
    .boolean()
    .describe('Matched to an existing record; for a browser token: this user was linked to it already.'),
  contactUUID: z.string().describe('For a browser token: a handle, which only that token can use.'),
});

/** One contact of createContacts: as by createContact with a server token, but a user to link is optional. */
export const batchContact = z.object(
  { userUUID: field.optional(field.userUUID), ...created },
  field.says('must be an object', 'object'),
);

/** A batch with its contacts unchecked. Each is then checked with `batchContact`: an invalid one does not fail the others. */
export const createContactsInput = z.object({
  contact: field
    .list(z.unknown(), limits.contactsPerBatch)
    .refine((contacts) => contacts.length > 0, 'must hold at least one contact'),
});

export const createContactsOutput = answer({
  contact: z
    .array(
      z.object({
        status: z.string(),
        exists: z.boolean().optional(),
        contactUUID: z.string().optional(),
        error: problem.optional(),
      }),
    )
    .describe('The result of each contact, in the order of the request.'),
});

export const getContactInput = z.object({
  contactUUID: field.contactUUID,
  include: field.optional(field.include(['claim', 'link'])),
  cursor: field
    .optional(field.cursor)
    .describe('The `nextCursor` of the page before: returns the next claims and links of `include`.'),
});

const tag = z.object({ tagID: z.string(), tagName: z.string(), opt: z.boolean() });
const attribute = z.object({ attrID: z.string(), attrValue: z.string() });

export const contact = z.object({
  contactUUID: z.string(),
  contactTitle: z.string(),
  contactFirstname: z.string(),
  contactLastname: z.string(),
  contactEmailaddress: z.string(),
  contactTelephone: z.string(),
  contactMobile: z.string(),
  contactJobRole: z.string(),
  contactProfileID: z.string(),
  contactProfileName: z.string(),
  tag: z.array(tag),
  contactAttr: z.array(attribute),
  contactStatus: z.string(),
  createdTime: isoTime,
  updatedTime: isoTime,
  claimed: z.array(z.string()).describe('Names of the fields that only a claim fills.'),
});

export const claim = z.object({
  claimID: z.string(),
  contactUUID: z.string(),
  userUUID: z.string(),
  tokenID: z.string(),
  linkID: z.string().describe('The link that the claim made.'),
  createdTime: isoTime,
  updatedTime: isoTime,
  state: z.enum(['open', 'accepted', 'voided']),
  contact: contact
    .omit({ contactUUID: true, tag: true, contactStatus: true, createdTime: true, updatedTime: true, claimed: true })
    .extend({ contactTagID: z.string() })
    .describe('The values that the browser sent.'),
});

export const link = z.object({
  linkID: z.string(),
  userUUID: z.string(),
  contactUUID: z.string(),
  linkTime: isoTime,
  verified: z.boolean(),
  voided: z.boolean(),
});

export const getContactOutput = answer({
  contact,
  claim: z.array(claim).optional(),
  claimCount: count.optional().describe('How many claims there are on all pages.'),
  link: z.array(link).optional(),
  linkCount: count.optional().describe('How many links there are on all pages.'),
  nextCursor: z.string().optional().describe('With `include`: "" on the last page of claims and links.'),
});

export const updateContactInput = z.object({ ...named, ...changed }).refine(namesContact, oneIsNeeded);

export const updateContactOutput = answer({
  contactUUID: z.string(),
  updated: z.array(z.string()).describe('The names of the fields whose value changed.'),
});

export const searchContactInput = z
  .object({
    text: field.optional(field.name),
    contactEmailaddress: field.optional(field.email),
    contactProfileID: field.optional(field.catalogueID),
    contactTagID: field.optional(field.catalogueID),
    ...field.attributeFilter,
    createdFrom: field.optional(field.time).describe('Only contacts created at this time or later.'),
    createdTo: field.optional(field.time).describe('Only contacts created before this time.'),
    contactStatus: field.optional(field.oneOf(['active', 'archived'])),
    limit: field.optional(field.pageLimit(limits.contactsPerPage)),
    cursor: field.optional(field.cursor),
  })
  .refine(field.isAttributePair, field.attributePairProblem);

export const searchContactOutput = answer({
  contact: z.array(contact.extend({ tag: z.array(tag).describe("Only the contact's own tags.") })),
  nextCursor: z.string().describe('"" on the last page. A page before it may hold fewer than `limit`, or none.'),
});

export const exportContactInput = z
  .object({
    ...named,
    limit: field.optional(field.pageLimit(limits.eventsPerPage)),
    cursor: field.optional(field.cursor),
  })
  .refine(namesContact, oneIsNeeded);

export const exportContactOutput = answer({
  contact,
  claim: z.array(claim).describe('All claims, oldest first, page by page; empty after the last one.'),
  link: z.array(link).describe('All links, oldest first, page by page; empty after the last one.'),
  event: z.array(event),
  nextCursor: z.string().describe('"" on the last page. A page before it may hold fewer than `limit`, or none.'),
});

export const eraseContactInput = z
  .object({
    ...named,
    verifiedOnly: field
      .optional(field.flag)
      .describe('Keeps events that belong to the contact by claims only. They then belong to nobody.'),
  })
  .refine(namesContact, oneIsNeeded);

export const eraseContactOutput = answer({
  contactUUID: z.string(),
  erasedTime: isoTime,
  deletedEvents: count.describe('The number of events deleted so far. A repeated call returns the current number.'),
  complete: z.boolean(),
});

/**
 * A contact in a body of createAccount or updateAccount. It is treated as by createContact or, with a contactUUID, as by
 * updateContact, and needs no userUUID.
 */
export const accountContact = z
  .object({ ...named, ...changed }, field.says('must be an object', 'object'))
  .refine(namesContact, oneIsNeeded);
