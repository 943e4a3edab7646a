/** Events: logging, reading and counting them. */
import * as z from 'zod';
import { attributes } from './attributes.ts';
import * as field from './fields.ts';
import { limits } from './limits.ts';
import * as plain from './plain.ts';
import { count, eventID, flag, isoTime, problem, response, responseText, text, trueOrAbsent } from './response.ts';

const subjectFields = {
  userUUID: field.optional(field.userUUID),
  contactUUID: field.optional(field.contactUUID),
  contactExternalID: field.describe(
    field.optional(field.externalID),
    'With a server token: your own ID for the contact, in place of contactUUID.',
  ),
};

const kindFields = {
  eventID: field.describe(
    field.optional(field.eventID),
    'The kind of event. An unlisted number is added to the catalogue. IDs from 1,000,000 are assigned to names.',
    3,
  ),
  eventName: field.describe(
    field.optional(field.eventName),
    'The name of the kind of event, in place of eventID. An unlisted name is added to the catalogue with the next free ID from 1,000,000. If the name cannot be added, it is stored in the attribute `$eventName`.',
    'Signed up',
  ),
};

const eventFields = {
  ...kindFields,
  eventUUID: field.optional(field.eventUUID),
  eventTime: field.describe(
    field.optional(field.time),
    'When the event happened. Defaults to the arrival time.',
    '2026-11-01T09:30:00Z',
  ),
  eventAttrArray: field
    .optional(attributes)
    .describe(
      'The event’s attributes, each at most once. An object is read as one attribute per member, and a single value as the attribute `value`. Nested objects and lists become `a.b` and `c.0`. `$browser`, `$os`, `$device`, `$country`, `$agent` and `$eventName` are ignored: the service sets them.',
    ),
};

const sentTime = field.describe(
  field.optional(field.time),
  "The sender's clock time when it sends the request. Corrects eventTime if that clock is wrong.",
  '2026-11-01T09:30:02Z',
);

const imported = field.describe(
  field.optional(field.flag),
  'With a server token: accepts times before 1990 and more than a year in the future.',
  true,
);

const plainSubject = { userUUID: plain.userUUID, contactUUID: plain.name };
const plainEventFields = {
  eventID: plain.eventID,
  eventName: plain.eventName,
  eventUUID: plain.eventUUID,
  eventTime: plain.time,
  eventAttrArray: plain.attributes,
};
/** The field that every operation accepts in addition to its own. */
const plainToken = { tokenUUID: plain.anything };

const missingSubjectMessage = 'is required unless `contactUUID` or `contactExternalID` is given';

const identifiesSubject = (input: {
  userUUID?: unknown;
  contactUUID?: unknown;
  contactExternalID?: unknown;
}): boolean => input.userUUID !== undefined || input.contactUUID !== undefined || input.contactExternalID !== undefined;

interface Kind {
  eventID?: number | undefined;
  eventName?: string | undefined;
}
const hasKind = ({ eventID, eventName }: Kind): boolean => eventID !== undefined || eventName !== undefined;
const hasTwoKinds = ({ eventID, eventName }: Kind): boolean => eventID !== undefined && eventName !== undefined;
const hasOneKind = (event: Kind): boolean => hasKind(event) && !hasTwoKinds(event);

const missingKindProblem = { path: ['eventID'], message: `${field.required} unless \`eventName\` is given` };
export const twoKindsProblem = { path: ['eventName'], message: 'must not be given together with `eventID`' };

const isPlainEvent = plain.object({ ...plainToken, ...plainSubject, ...plainEventFields, sentTime: plain.time });

export const logEventInput = plain.withPlainCheck(
  z
    .object({ ...subjectFields, ...eventFields, sentTime, import: imported })
    .refine(hasKind, missingKindProblem)
    .refine((event) => !hasTwoKinds(event), twoKindsProblem)
    .refine(identifiesSubject, { path: ['userUUID'], message: missingSubjectMessage }),
  (input) => isPlainEvent(input) && hasOneKind(input as Kind) && identifiesSubject(input as object),
);

const duplicate = trueOrAbsent('The event was already stored: this request is a duplicate.');

export const logEventOutput = response({
  eventUUID: responseText(field.eventUUID).describe('Identifies the event.'),
  duplicate,
});

const isPlainBatchEvent = plain.object({ ...plainSubject, ...plainEventFields });

/** One event of a batch. Its user or contact is checked later, because the event may inherit it from the batch. */
export const batchEvent = plain.withPlainCheck(
  z
    .object({ ...subjectFields, ...eventFields }, field.errorMessage('must be an object', 'object'))
    .refine(hasKind, missingKindProblem)
    .refine((event) => !hasTwoKinds(event), twoKindsProblem),
  (input) => isPlainBatchEvent(input) && hasOneKind(input as Kind),
);

/** A batch whose events are checked one by one with `batchEvent`, so that an invalid event does not fail the others. */
export const logEventsInput = plain.withPlainCheck(
  z.object({
    ...subjectFields,
    sentTime,
    import: imported,
    cookieDomain: field.describe(
      field.optional(field.text(limits.nameLength)),
      "The domain of the page's userUUID cookie. The response renews the cookie for this domain.",
      'shop.example',
    ),
    event: field.describe(
      field
        .list(z.unknown(), limits.eventsPerBatch)
        .refine((events) => events.length > 0, 'must contain at least one event'),
      'The events. An event without a user or contact inherits that of the batch.',
      [{ eventID: 3, eventUUID: 'page-view-0002' }, { eventName: 'Signed up' }],
    ),
  }),
  plain.object(
    { ...plainToken, ...plainSubject, sentTime: plain.time, cookieDomain: plain.name, event: plain.events },
    ['event'],
  ),
);

export const logEventsOutput = response({
  event: z
    .array(
      z.object({
        status: text('This event’s status.', '200'),
        eventUUID: responseText(field.eventUUID).describe('Identifies the event.').optional(),
        duplicate,
        error: problem.optional().describe('Why this event was rejected.'),
      }),
    )
    .describe('The result for each event, in request order.'),
});

const robots = field.describe(
  field.optional(field.oneOf(['include', 'exclude'])),
  '`exclude` leaves out events whose attribute `robot` is `true`, which marks known bots.',
  'exclude',
);

/** Unlike `field.eventName`, this name may be a number: an unnamed eventID's name is its number. */
export const kindFilter = {
  eventID: field.describe(field.optional(field.eventID), 'Only events of this kind.'),
  eventName: field.describe(
    field.optional(field.filledText(limits.nameLength)),
    'Only events of the kind that the account currently lists under this name; if there are several, the kind with the lowest eventID. If there is none, only events that were sent with this name while it was not listed.',
    'Basket filled',
  ),
};
export const hasAtMostOneKind = (filter: Kind): boolean => !hasTwoKinds(filter);

const from = (schema: typeof field.time) =>
  field.describe(schema, 'Only events at or after this time.', '2026-11-01T00:00:00Z');
const to = field.describe(field.optional(field.time), 'Only events before this time.', '2099-01-01T00:00:00Z');

const eventFilter = {
  userUUID: field.describe(field.optionalFilter(field.userUUID), 'Only events of this user.'),
  contactUUID: field.describe(field.optionalFilter(field.contactUUID), 'Only events of this contact.'),
  contactExternalID: field.describe(
    field.optionalFilter(field.externalID),
    'Only events of the contact with this external ID. Ignored if contactUUID is given.',
  ),
  ...kindFilter,
  ...field.attributeFilter('events'),
};

export const getEventInput = z
  .object({
    ...eventFilter,
    from: field.optional(from(field.time)),
    to,
    robots,
    limit: field.optional(field.pageLimit(limits.eventsPerPage)),
    order: field.describe(
      field.optional(field.oneOf(['desc', 'asc'])),
      "Newest first (`desc`, the default) or oldest first (`asc`). Events are sorted in the order in which they were stored, not by eventTime, so that late events don't shift earlier pages.",
      'asc',
    ),
    cursor: field.optional(field.cursor),
    include: field.describe(
      field.optional(field.include(['definition', 'why'])),
      'Extra data to include in the response: the kinds of events (`definition`), and why each event belongs to its owner (`why`).',
    ),
  })
  .refine(field.isAttributePair, field.attributePairProblem)
  .refine(hasAtMostOneKind, twoKindsProblem);

/** Why an event belongs to its owner: the rule, link, claim and merge that determined it. */
export const why = z.object({
  rule: field.describe(
    z.enum(['logged with the contact', 'linked', 'reached back', 'nobody']),
    'The rule that determined the owner.',
    'linked',
  ),
  linkID: responseText(field.linkID).describe('The link that determined the owner.').optional(),
  verified: flag('Whether a server token created or confirmed the link.').optional(),
  claimID: responseText(field.claimID).describe('The claim that created the link.').optional(),
  mergedFrom: text(
    'The contact that was linked, if it has since been merged into the owner.',
    'Qm4zX9wTf2Rk7yWcJ1LsA',
  ).optional(),
});

export const attribute = z.object({
  attrID: responseText(field.attrID),
  attrValue: text('The attribute’s value.', 'Stone teapot'),
});

const eventName = text('The name of this kind of event, or its eventID if it is unnamed.', 'Basket filled');

export const event = z.object({
  eventUUID: responseText(field.eventUUID).describe('Identifies the event.'),
  eventID,
  eventName,
  eventTime: isoTime('When the event happened.'),
  receivedTime: isoTime('When the event arrived.', '2026-11-01T09:30:02.000Z'),
  eventTimeReplaced: trueOrAbsent('The request’s eventTime was implausible and was replaced by receivedTime.'),
  userUUID: responseText(field.userUUID).describe('The user; "" if the event was logged for a contact without a user.'),
  contactUUID: responseText(field.contactUUID).describe('The owner; "" for an event without one.'),
  eventAttrArray: z
    .array(attribute)
    .describe(
      'The event’s attributes. For browser tokens, the service adds labels that describe the visitor: `$browser`, `$os`, `$device`, `$country`, and for bots `$agent`.',
    ),
  claimed: trueOrAbsent('In an export: the event belongs to the contact only through claims by browser tokens.'),
  why: why.optional().describe('With `include=why`: why the event belongs to its owner.'),
});

export const eventDefinition = z.object({
  eventID,
  eventName,
  count: count('The number of events of this kind.', 1_200),
  firstTime: isoTime('The earliest eventTime.'),
  lastTime: isoTime('The latest eventTime.', '2026-11-23T16:00:00.000Z'),
});

export const getEventOutput = response({
  event: z.array(event).describe('The events.'),
  nextCursor: text(
    'The cursor of the next page; "" on the last page. Any page may contain fewer than `limit` events, or none.',
    '',
  ),
  eventDefinition: z
    .array(eventDefinition)
    .optional()
    .describe('With `include=definition`: the kinds of events in the account.'),
});

export const countEventsInput = z
  .object({
    ...kindFilter,
    from: from(field.time),
    to: field.describe(to, 'Only events before this time. Defaults to now.', '2026-12-01T00:00:00Z'),
    interval: field.describe(
      field.optional(field.oneOf(['hour', 'day', 'week', 'month', 'total'])),
      'The length of each interval; `day` by default.',
      'week',
    ),
    timezone: field.optional(field.timezone).describe("The time zone in which days begin. Defaults to the account's."),
    robots,
    include: field.describe(
      field.optional(field.include(['users'])),
      'Extra data to include in the response: the number of distinct users.',
    ),
  })
  .refine(hasAtMostOneKind, twoKindsProblem);

export const countEventsOutput = response({
  count: z
    .array(
      z.object({
        from: isoTime('The start of the interval.', '2026-11-01T00:00:00.000Z'),
        to: isoTime('The end of the interval.', '2026-11-02T00:00:00.000Z'),
        events: count('Events in the interval.', 320),
        users: count('With `include=users`: distinct users.', 45).optional(),
      }),
    )
    .describe('The intervals, in order, including empty ones.'),
  timezone: text('The intervals’ time zone.', 'Europe/London'),
});

export const streamEventsInput = z
  .object({ ...eventFilter, cursor: field.optional(field.cursor) })
  .refine(field.isAttributePair, field.attributePairProblem)
  .refine(hasAtMostOneKind, twoKindsProblem);
