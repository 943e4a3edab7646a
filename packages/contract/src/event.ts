/** Events: logging them, reading them back, counting them. */
import * as z from 'zod';
import { answer, count, isoTime, mark, problem } from './answer.ts';
import * as field from './fields.ts';
import { limits } from './limits.ts';
import * as plain from './plain.ts';

const who = {
  userUUID: field.optional(field.userUUID),
  contactUUID: field.optional(field.contactUUID),
};

const kind = {
  eventID: field.optional(field.eventID).describe('The kind of event. The IDs from 1,000,000 on are given to names.'),
  eventName: field
    .optional(field.eventName)
    .describe(
      'The kind of event by its name, in place of eventID. A name that the account does not list is listed with the next free ID from 1,000,000 on.',
    ),
};

const what = {
  ...kind,
  eventUUID: field.optional(field.eventUUID),
  eventTime: field.optional(field.time),
  eventAttrArray: field.optional(field.attributes(field.attribute)),
};

const imported = field
  .optional(field.flag)
  .describe('With a server token: accept times before 1990 and times more than a year ahead.');

const plainWho = { userUUID: plain.userUUID, contactUUID: plain.name };
const plainWhat = {
  eventID: plain.eventID,
  eventName: plain.eventName,
  eventUUID: plain.eventUUID,
  eventTime: plain.time,
  eventAttrArray: plain.attributes,
};
/** The field that every operation takes besides its own. */
const plainToken = { tokenUUID: plain.anything };

const oneIsNeeded = 'is required unless `contactUUID` is given';

const namesSomebody = ({ userUUID, contactUUID }: { userUUID?: unknown; contactUUID?: unknown }): boolean =>
  userUUID !== undefined || contactUUID !== undefined;

interface Kind {
  eventID?: number | undefined;
  eventName?: string | undefined;
}
const namesAKind = ({ eventID, eventName }: Kind): boolean => eventID !== undefined || eventName !== undefined;
const namesAKindTwice = ({ eventID, eventName }: Kind): boolean => eventID !== undefined && eventName !== undefined;
const namesOneKind = (event: Kind): boolean => namesAKind(event) && !namesAKindTwice(event);

const kindIsNeeded = { path: ['eventID'], message: `${field.required} unless \`eventName\` is given` };
const onlyOneKind = { path: ['eventName'], message: 'must not be given together with `eventID`' };

const isPlainEvent = plain.object({ ...plainToken, ...plainWho, ...plainWhat, sentTime: plain.time });

export const logEventInput = plain.withPlain(
  z
    .object({ ...who, ...what, sentTime: field.optional(field.time), import: imported })
    .refine(namesAKind, kindIsNeeded)
    .refine((event) => !namesAKindTwice(event), onlyOneKind)
    .refine(namesSomebody, { path: ['userUUID'], message: oneIsNeeded }),
  (input) => isPlainEvent(input) && namesOneKind(input as Kind) && namesSomebody(input as object),
);

export const logEventOutput = answer({ eventUUID: z.string(), duplicate: mark });

const isPlainBatchEvent = plain.object({ ...plainWho, ...plainWhat });

/** One event of a batch. It may take its user or contact from the batch, so whether it names one is checked later. */
export const batchEvent = plain.withPlain(
  z
    .object({ ...who, ...what }, field.says('must be an object', 'object'))
    .refine(namesAKind, kindIsNeeded)
    .refine((event) => !namesAKindTwice(event), onlyOneKind),
  (input) => isPlainBatchEvent(input) && namesOneKind(input as Kind),
);

/** A batch with its events unchecked. Each event is then checked with `batchEvent`: an invalid one does not fail the others. */
export const logEventsInput = plain.withPlain(
  z.object({
    ...who,
    sentTime: field.optional(field.time),
    import: imported,
    cookieDomain: field
      .optional(field.text(limits.nameLength))
      .describe("The domain of the page's userUUID cookie. The response renews the cookie on this domain."),
    event: field
      .list(z.unknown(), limits.eventsPerBatch)
      .refine((events) => events.length > 0, 'must hold at least one event'),
  }),
  plain.object({ ...plainToken, ...plainWho, sentTime: plain.time, cookieDomain: plain.name, event: plain.events }, [
    'event',
  ]),
);

export const logEventsOutput = answer({
  event: z.array(
    z.object({
      status: z.string(),
      eventUUID: z.string().optional(),
      duplicate: mark,
      error: problem.optional(),
    }),
  ),
});

const robots = field
  .optional(field.oneOf(['include', 'exclude']))
  .describe('`exclude` leaves out events whose attribute `robot` is `true`: known robots are marked like this.');

/** A name that a catalogue may list, which for an ID without a name is the ID itself. */
const kindFilter = {
  eventID: field.optional(field.eventID),
  eventName: field
    .optional(field.filledText(limits.nameLength))
    .describe('The name that the account lists now. If it lists several IDs with this name: the lowest of them.'),
};
const oneKindAtMost = (filter: Kind): boolean => !namesAKindTwice(filter);

const eventFilter = { ...who, ...kindFilter, ...field.attributeFilter };

export const getEventInput = z
  .object({
    ...eventFilter,
    from: field.optional(field.time),
    to: field.optional(field.time),
    robots,
    limit: field.optional(field.pageLimit(limits.eventsPerPage)),
    order: field
      .optional(field.oneOf(['desc', 'asc']))
      .describe(
        "Events are sorted by the order in which they were stored, not by eventTime, so that late events don't shift earlier pages.",
      ),
    cursor: field.optional(field.cursor),
    include: field.optional(field.include(['definition', 'why'])),
  })
  .refine(field.isAttributePair, field.attributePairProblem)
  .refine(oneKindAtMost, onlyOneKind);

/** The reason why an event belongs to its owner: the rule, and the link, claim and merge that decided. */
export const why = z.object({
  rule: z.enum(['logged with the contact', 'linked', 'reached back', 'nobody']),
  linkID: z.string().optional(),
  verified: z.boolean().optional(),
  claimID: z.string().optional(),
  mergedFrom: z.string().optional().describe('The contact that was linked, when it has been merged into the owner.'),
});

export const event = z.object({
  eventUUID: z.string(),
  eventID: z.number().int(),
  eventName: z.string(),
  eventTime: isoTime,
  receivedTime: isoTime,
  eventTimeReplaced: mark.describe('The given time was implausible; eventTime is the received time.'),
  userUUID: z.string().describe('"" when logged with a contactUUID only.'),
  contactUUID: z.string().describe('The owner; "" for an event without one.'),
  eventAttrArray: z.array(z.object({ attrID: z.string(), attrValue: z.string() })),
  claimed: mark.describe("In an export: only claims of browser tokens make the event the contact's."),
  why: why.optional(),
});

export const eventDefinition = z.object({
  eventID: z.number().int(),
  eventName: z.string(),
  count: count,
  firstTime: isoTime,
  lastTime: isoTime,
});

export const getEventOutput = answer({
  event: z.array(event),
  nextCursor: z.string().describe('"" on the last page. A page before the last may hold fewer than `limit`, or none.'),
  eventDefinition: z.array(eventDefinition).optional(),
});

export const countEventsInput = z
  .object({
    ...kindFilter,
    from: field.time,
    to: field.optional(field.time),
    interval: field.optional(field.oneOf(['hour', 'day', 'week', 'month', 'total'])),
    timezone: field.optional(field.timezone),
    robots,
    include: field.optional(field.include(['users'])),
  })
  .refine(oneKindAtMost, onlyOneKind);

export const countEventsOutput = answer({
  count: z.array(
    z.object({
      from: isoTime,
      to: isoTime,
      events: count,
      users: count.optional().describe('Distinct users; with include=users.'),
    }),
  ),
  timezone: z.string(),
});

export const streamEventsInput = z
  .object({ ...eventFilter, cursor: field.optional(field.cursor) })
  .refine(field.isAttributePair, field.attributePairProblem)
  .refine(oneKindAtMost, onlyOneKind);
