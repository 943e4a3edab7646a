/** The tools for agents. Each calls operations of the HTTP API, whose input, rights and limits apply. */
import { getEventInput } from '@firsthand/contract/event';
import * as field from '@firsthand/contract/fields';
import { type InputOf, type OperationName, type OutputOf, operations } from '@firsthand/contract/operations';
import * as z from 'zod';
import type { HandledOperation } from '../operations/replies.ts';
import { cleanValue, maxTextLength } from './clean-text.ts';
import { type ConsolePage, filterParameter, rangeParameters } from './console-links.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Runs an operation for the agent. Rejects with Refusal if its token may not call it, or if the fields are invalid. */
export type CallOperation = <Name extends HandledOperation>(name: Name, fields: Fields) => Promise<OutputOf<Name>>;

export interface Tool {
  readonly description: string;
  /** The operation that determines which tokens may use the tool, and its input unless `input` is given. */
  readonly operation: HandledOperation;
  readonly input?: z.ZodType<Fields>;
  /** Default: calls the operation. */
  readonly run?: (call: CallOperation, fields: never) => Promise<object>;
  /** The console page that shows the answer. */
  readonly page: (fields: Fields, data: object) => ConsolePage;
  /** Whether the tool changes data. */
  readonly isWrite?: true;
}

/** The default number of entries per page: low, because answers take up an agent's context. */
export const defaultLimit = 20;

/** The operations that return counts, and nothing about a person. Only these accept tokens of kind `agent`. */
export const aggregateOperations: readonly OperationName[] = [
  'getAccount',
  'listSegments',
  'reportTotals',
  'reportBreakdown',
  'reportFunnel',
  'reportRetention',
  'reportLive',
];

const entriesShown = 100;

const catalogueInput = z.object({
  text: field.describe(
    field.optional(field.name),
    'Only entries whose name or ID contains this text, ignoring case.',
    'basket',
  ),
  limit: field.describe(
    field.optional(field.integer(1, 500)),
    `The maximum number of entries; ${entriesShown} by default.`,
    entriesShown,
  ),
});
type CatalogueInput = z.output<typeof catalogueInput>;

/** Returns up to `limit` entries that contain the text, and the number of all such entries. */
const selectEntries = <Entry extends object>(
  entries: readonly Entry[],
  textsOf: (entry: Entry) => readonly (string | number)[],
  { text = '', limit = entriesShown }: CatalogueInput,
) => {
  const part = text.toLowerCase();
  const matches = entries.filter((entry) => textsOf(entry).some((each) => String(each).toLowerCase().includes(part)));
  return { matching: matches.length, entry: matches.slice(0, limit) };
};

const describeAccount = async (call: CallOperation): Promise<object> => {
  const { account } = await call('getAccount', {});
  const { segment } = await call('listSegments', {});
  const { accountUUID, accountName, accountTimezone, accountCurrency, accountOrigin, createdTime, usage } = account;
  return {
    ...{ accountUUID, accountName, accountTimezone, accountCurrency, createdTime, usage },
    accountOrigin: accountOrigin.slice(0, entriesShown),
    catalogues: {
      event: account.event.length,
      attr: account.attr.length,
      tag: account.tag.length,
      profile: account.profile.length,
    },
    tag: account.tag.slice(0, entriesShown).map(({ tagID, tagName }) => ({ tagID, tagName })),
    profile: account.profile.slice(0, entriesShown).map(({ profileID, profileName }) => ({ profileID, profileName })),
    segment: segment.map(({ segmentName, updatedTime }) => ({ segmentName, updatedTime })),
  };
};

const { from, to, limit, cursor, order, eventName } = getEventInput.shape;
const { contactUUID } = field;

const historyInput = z.object({ contactUUID, from, to, eventName, order, limit, cursor });

const getHistory = async (call: CallOperation, fields: z.output<typeof historyInput>): Promise<object> => {
  const { contact } = await call('getContact', { contactUUID: fields.contactUUID });
  return { contact, ...(await call('getEvent', fields)) };
};

const whyInput = z.object({
  contactUUID,
  eventUUID: field.describe(field.eventUUID, 'The event, as get_contact_history lists it.'),
  from,
  to,
});

const searchedEvents = 1_000;

type Rule = NonNullable<OutputOf<'getEvent'>['event'][number]['why']>['rule'];
const reasons: Readonly<Record<Rule, string>> = {
  'logged with the contact': 'A server token logged the event for this contact, so it belongs to the contact.',
  linked: 'The browser was already linked to this contact when the event was stored.',
  'reached back':
    'The browser was anonymous when the event was stored. Its next link, to this contact, also covers the events before it.',
  nobody: 'The event belongs to nobody.',
};

const explainOwner = async (
  call: CallOperation,
  { eventUUID, ...fields }: z.output<typeof whyInput>,
): Promise<object> => {
  const { event: events } = await call('getEvent', { ...fields, include: 'why', limit: searchedEvents });
  const event = events.find((one) => one.eventUUID === eventUUID);
  if (event?.why === undefined) {
    const hint = 'Send the contactUUID and eventUUID of an event from get_contact_history';
    return { found: false, hint: `${hint}, with \`from\` and \`to\` around its eventTime.`, searched: events.length };
  }
  const { linkID } = event.why;
  const { link = [] } =
    linkID === undefined ? {} : await call('getContact', { contactUUID: fields.contactUUID, include: 'link' });
  return {
    found: true,
    reason: reasons[event.why.rule],
    event,
    link: link.find((one) => one.linkID === linkID) ?? null,
  };
};

const listRefused = async (call: CallOperation, fields: InputOf<'listRefused'>): Promise<object> => {
  const { refused, ...others } = await call('listRefused', fields);
  return {
    ...others,
    refused: refused.map(({ request, ...each }) => ({
      ...each,
      // As one string, because a request can have a thousand events.
      request: JSON.stringify(cleanValue(request)),
    })),
  };
};

const ofRange =
  (name: string, parameters: Readonly<Record<string, string>> = {}): Tool['page'] =>
  (fields, data) => ({ name, parameters: { ...parameters, ...filterParameter(fields), ...rangeParameters(data) } });
const onPage =
  (name: string): Tool['page'] =>
  () => ({ name });
const ofContact: Tool['page'] = (fields) => ({ name: 'person', parameters: { contact: String(fields.contactUUID) } });

export const tools: Readonly<Record<string, Tool>> = {
  describe_account: {
    description:
      'Describe the account: its name, time zone, currency, sites, how much it stores, its tags, profiles and segments. Call this first.',
    operation: 'getAccount',
    input: z.object({}),
    run: describeAccount,
    page: onPage(''),
  },
  list_events: {
    description:
      'List the kinds of events in the catalogue, by ID and name. For counts, use get_breakdown with by=event.',
    operation: 'getAccount',
    input: catalogueInput,
    run: async (call, fields: CatalogueInput) => {
      const { account } = await call('getAccount', {});
      return selectEntries(account.event, ({ eventID, eventName: name }) => [eventID, name], fields);
    },
    page: onPage('catalogue'),
  },
  list_attributes: {
    description:
      'List the attributes in the catalogue. For the values of one, use get_breakdown with by=attr:<attrID>. Page views have the attributes path, referrer and utm_source; $country, $device, $browser and $os describe the visitor.',
    operation: 'getAccount',
    input: catalogueInput,
    run: async (call, fields: CatalogueInput) => {
      const { account } = await call('getAccount', {});
      return selectEntries(account.attr, ({ attrID, attrName }) => [attrID, attrName], fields);
    },
    page: onPage('catalogue'),
  },
  get_totals: {
    description: operations.reportTotals.summary,
    operation: 'reportTotals',
    page: ofRange(''),
  },
  get_breakdown: {
    description: operations.reportBreakdown.summary,
    operation: 'reportBreakdown',
    page: (fields, data) => ofRange('events', { by: String(fields.by) })(fields, data),
  },
  get_funnel: {
    description: operations.reportFunnel.summary,
    operation: 'reportFunnel',
    page: ofRange('events', { tab: 'funnel' }),
  },
  get_retention: {
    description: operations.reportRetention.summary,
    operation: 'reportRetention',
    page: ofRange('events', { tab: 'retention' }),
  },
  get_live: {
    description: operations.reportLive.summary,
    operation: 'reportLive',
    page: onPage('live'),
  },
  list_people: {
    description: `${operations.reportPeople.summary} ${operations.reportPeople.details}`,
    operation: 'reportPeople',
    page: ofRange('people'),
  },
  find_contact: {
    description: operations.searchContact.summary,
    operation: 'searchContact',
    page: onPage('people'),
  },
  get_contact_history: {
    description:
      'Retrieve a contact and its events, newest first. Find its contactUUID with find_contact or list_people.',
    operation: 'getEvent',
    input: historyInput,
    run: getHistory,
    page: ofContact,
  },
  why_is_this_event_theirs: {
    description: `Explain why an event belongs to a contact: the rule, link, claim and merge that determined it. Searches the ${searchedEvents.toLocaleString('en')} newest events in the range.`,
    operation: 'getEvent',
    input: whyInput,
    run: explainOwner,
    page: ofContact,
  },
  list_refused: {
    description: `${operations.listRefused.summary} Each \`request\` is JSON text, cut to ${maxTextLength} characters.`,
    operation: 'listRefused',
    run: listRefused,
    page: onPage('settings'),
  },
  save_segment: {
    description: `${operations.createSegment.summary} ${operations.createSegment.details}`,
    operation: 'createSegment',
    page: onPage('catalogue'),
    isWrite: true,
  },
};
