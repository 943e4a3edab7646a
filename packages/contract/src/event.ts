/** Events: logging them, reading them back, counting them. */
import * as z from 'zod';
import { answer, count, eventID, flag, isoTime, mark, problem, text, told } from './answer.ts';
import { attributes } from './attributes.ts';
import * as field from './fields.ts';
import { limits } from './limits.ts';
import * as plain from './plain.ts';

const who = {
  userUUID: field.optional(field.userUUID),
  contactUUID: field.optional(field.contactUUID),
  contactExternalID: field.described(
    field.optional(field.externalID),
    'With a server token: names the contact, in place of contactUUID, by your own ID.',
  ),
};

const kind = {
  eventID: field.described(
    field.optional(field.eventID),
    'The kind of event. A number that the catalogue does not list is added to it. The IDs from 1,000,000 on are given to names.',
    3,
  ),
  eventName: field.described(
    field.optional(field.eventName),
    'The kind of event by its name, in place of eventID. A name that the account does not list is listed with the next free ID from 1,000,000 on. One that cannot be listed is stored in the attribute `$eventName`.',
    'Signed up',
  ),
};

const what = {
  ...kind,
  eventUUID: field.optional(field.eventUUID),
  eventTime: field.described(
    field.optional(field.time),
    'When the event happened; when it arrived, if absent.',
    '2026-11-01T09:30:00Z',
  ),
  eventAttrArray: field
    .optional(attributes)
    .describe(
      'The attributes of the event; none of them twice. Nested objects and lists become `a.b` and `c.0`, an object is taken by its members, and a single value as the attribute `value`. `$browser`, `$os`, `$device`, `$country`, `$agent` and `$eventName` are ignored: the service makes these.',
    ),
};

const sentTime = field.described(
  field.optional(field.time),
  "The sender's clock when it sends the request. It corrects an eventTime of a clock that is wrong.",
  '2026-11-01T09:30:02Z',
);

const imported = field.described(
  field.optional(field.flag),
  'With a server token: accept times before 1990 and times more than a year ahead.',
  true,
);

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

const oneIsNeeded = 'is required unless `contactUUID` or `contactExternalID` is given';

const namesSomebody = (input: { userUUID?: unknown; contactUUID?: unknown; contactExternalID?: unknown }): boolean =>
  input.userUUID !== undefined || input.contactUUID !== undefined || input.contactExternalID !== undefined;

interface Kind {
  eventID?: number | undefined;
  eventName?: string | undefined;
}
const namesAKind = ({ eventID, eventName }: Kind): boolean => eventID !== undefined || eventName !== undefined;
const namesAKindTwice = ({ eventID, eventName }: Kind): boolean => eventID !== undefined && eventName !== undefined;
const namesOneKind = (event: Kind): boolean => namesAKind(event) && !namesAKindTwice(event);

const kindIsNeeded = { path: ['eventID'], message: `${field.required} unless \`eventName\` is given` };
export const onlyOneKind = { path: ['eventName'], message: 'must not be given together with `eventID`' };

const isPlainEvent = plain.object({ ...plainToken, ...plainWho, ...plainWhat, sentTime: plain.time });

export const logEventInput = plain.withPlain(
  z
    .object({ ...who, ...what, sentTime, import: imported })
    .refine(namesAKind, kindIsNeeded)
    .refine((event) => !namesAKindTwice(event), onlyOneKind)
    .refine(namesSomebody, { path: ['userUUID'], message: oneIsNeeded }),
  (input) => isPlainEvent(input) && namesOneKind(input as Kind) && namesSomebody(input as object),
);

const duplicate = mark('The event was stored before: this was a repeat.');

export const logEventOutput = answer({ eventUUID: told(field.eventUUID).describe('Identifies the event.'), duplicate });

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
    sentTime,
    import: imported,
    cookieDomain: field.described(
      field.optional(field.text(limits.nameLength)),
      "The domain of the page's userUUID cookie. The response renews the cookie on this domain.",
      'shop.example',
    ),
    event: field.described(
      field
        .list(z.unknown(), limits.eventsPerBatch)
        .refine((events) => events.length > 0, 'must hold at least one event'),
      'The events. An event that names no user or contact takes that of the batch.',
      [{ eventID: 3, eventUUID: 'page-view-0002' }, { eventName: 'Signed up' }],
    ),
  }),
  plain.object({ ...plainToken, ...plainWho, sentTime: plain.time, cookieDomain: plain.name, event: plain.events }, [
    'event',
  ]),
);

export const logEventsOutput = answer({
  event: z
    .array(
      z.object({
        status: text('The status of this event.', '200'),
        eventUUID: told(field.eventUUID).describe('Identifies the event.').optional(),
        duplicate,
        error: problem.optional().describe('Why this event was refused.'),
      }),
    )
    .describe('The result of each event, in the order of the request.'),
});

const robots = field.described(
  field.optional(field.oneOf(['include', 'exclude'])),
  '`exclude` leaves out events whose attribute `robot` is `true`: known robots are marked like this.',
  'exclude',
);

/** A name that a catalogue may list, which for an ID without a name is the ID itself. */
export const kindFilter = {
  eventID: field.described(field.optional(field.eventID), 'Only events of this kind.'),
  eventName: field.described(
    field.optional(field.filledText(limits.nameLength)),
    'Only events of the kind that the account lists by this name now. If it lists several: the one with the lowest eventID. If it lists none: the events with this unlisted name.',
    'Basket filled',
  ),
};
export const oneKindAtMost = (filter: Kind): boolean => !namesAKindTwice(filter);

const from = (schema: typeof field.time) =>
  field.described(schema, 'Only events from this time on.', '2026-11-01T00:00:00Z');
const to = field.described(field.optional(field.time), 'Only events before this time.', '2099-01-01T00:00:00Z');

const eventFilter = {
  userUUID: field.described(field.whose(field.userUUID), 'Only events of this user.'),
  contactUUID: field.described(field.whose(field.contactUUID), 'Only events of this contact.'),
  contactExternalID: field.described(
    field.whose(field.externalID),
    'Only events of the contact with this external ID. Ignored beside contactUUID.',
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
    order: field.described(
      field.optional(field.oneOf(['desc', 'asc'])),
      "Newest (`desc`, if absent) or oldest first. Events are sorted by the order in which they were stored, not by eventTime, so that late events don't shift earlier pages.",
      'asc',
    ),
    cursor: field.optional(field.cursor),
    include: field.described(
      field.optional(field.include(['definition', 'why'])),
      'What to add to the response: the kinds of events, the reason why each event belongs to its owner.',
    ),
  })
  .refine(field.isAttributePair, field.attributePairProblem)
  .refine(oneKindAtMost, onlyOneKind);

/** The reason why an event belongs to its owner: the rule, and the link, claim and merge that decided. */
export const why = z.object({
  rule: field.described(
    z.enum(['logged with the contact', 'linked', 'reached back', 'nobody']),
    'The rule that decided.',
    'linked',
  ),
  linkID: told(field.linkID).describe('The link that decided.').optional(),
  verified: flag('Whether a server token made or confirmed the link.').optional(),
  claimID: told(field.claimID).describe('The claim that made the link.').optional(),
  mergedFrom: text(
    'The contact that was linked, when it has been merged into the owner.',
    'Qm4zX9wTf2Rk7yWcJ1LsA',
  ).optional(),
});

export const attribute = z.object({
  attrID: told(field.attrID),
  attrValue: text('The value of the attribute.', 'Stone teapot'),
});

const eventName = text('The name of the kind of event; its number where nobody gave it a name.', 'Basket filled');

export const event = z.object({
  eventUUID: told(field.eventUUID).describe('Identifies the event.'),
  eventID,
  eventName,
  eventTime: isoTime('When the event happened.'),
  receivedTime: isoTime('When the event arrived.', '2026-11-01T09:30:02.000Z'),
  eventTimeReplaced: mark('The given time was implausible; eventTime is the received time.'),
  userUUID: told(field.userUUID).describe('The user; "" when logged with a contactUUID only.'),
  contactUUID: told(field.contactUUID).describe('The owner; "" for an event without one.'),
  eventAttrArray: z
    .array(attribute)
    .describe(
      'The attributes of the event. With a browser token the service adds labels of the visitor: `$browser`, `$os`, `$device`, `$country`, and for robots `$agent`.',
    ),
  claimed: mark("In an export: only claims of browser tokens make the event the contact's."),
  why: why.optional().describe('With `include=why`: the reason why the event belongs to its owner.'),
});

export const eventDefinition = z.object({
  eventID,
  eventName,
  count: count('How many events of this kind there are.', 1_200),
  firstTime: isoTime('The eventTime of the earliest.'),
  lastTime: isoTime('The eventTime of the latest.', '2026-11-23T16:00:00.000Z'),
});

export const getEventOutput = answer({
  event: z.array(event).describe('The events.'),
  nextCursor: text(
    'The cursor of the next page; "" on the last page. A page before it may hold fewer than `limit`, or none.',
    '',
  ),
  eventDefinition: z
    .array(eventDefinition)
    .optional()
    .describe('With `include=definition`: the kinds of events that the account has.'),
});

export const countEventsInput = z
  .object({
    ...kindFilter,
    from: from(field.time),
    to: field.described(to, 'Only events before this time; until now, if absent.', '2026-12-01T00:00:00Z'),
    interval: field.described(
      field.optional(field.oneOf(['hour', 'day', 'week', 'month', 'total'])),
      'The length of each interval; `day` if absent.',
      'week',
    ),
    timezone: field.optional(field.timezone).describe("Where days begin; the account's time zone, if absent."),
    robots,
    include: field.described(field.optional(field.include(['users'])), 'What to add to the response: distinct users.'),
  })
  .refine(oneKindAtMost, onlyOneKind);

export const countEventsOutput = answer({
  count: z
    .array(
      z.object({
        from: isoTime('The beginning of the interval.', '2026-11-01T00:00:00.000Z'),
        to: isoTime('The end of the interval.', '2026-11-02T00:00:00.000Z'),
        events: count('Events in the interval.', 320),
        users: count('Distinct users; with include=users.', 45).optional(),
      }),
    )
    .describe('The intervals, in order, empty ones included.'),
  timezone: text('The time zone in which was counted.', 'Europe/London'),
});

export const streamEventsInput = z
  .object({ ...eventFilter, cursor: field.optional(field.cursor) })
  .refine(field.isAttributePair, field.attributePairProblem)
  .refine(oneKindAtMost, onlyOneKind);
