/**
 * Maps Segment HTTP API messages to Firsthand operations. These are pure functions: the same message always produces
 * the same input.
 *
 * - `track`: logEvent with the name `event` and the attributes `properties`
 * - `page`, `screen`: logEvent for a page view, with path, title, referrer and campaign
 * - `group`: logEvent `Group joined` with `groupId` and the group's traits
 * - `identify`: createContact, which links the browser; without `userId` or `traits.email` logEvent `Identified`
 * - `alias`: createContact for `userId`, which links the browser `previousId`
 */
import { createHmac } from 'node:crypto';
import { isRecord } from '@firsthand/contract/checking';
import { externalID } from '@firsthand/contract/fields';
import { eventUUIDPattern, userUUIDPattern } from '@firsthand/contract/identifiers';
import { parseAddress } from '../../identity/email-address.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { RequestFields } from '../request/input.ts';
import { pageViewName } from '../script-tag.ts';

/**
 * An operation's input, which is checked like any other request's. An event's `contactEmailaddress` is its contact's
 * address, and must be replaced with the contactUUID.
 */
export interface SegmentCall {
  readonly operation: 'logEvent' | 'createContact';
  readonly input: RequestFields;
}

/** Why a message can't be mapped, with the part that could be mapped. */
export interface SegmentProblem extends SegmentCall {
  readonly refusal: Refusal;
}

export interface Sender {
  /** A browser token can only make claims, and can't refer to contacts. */
  readonly fromBrowser: boolean;
  /** The key of the hash that replaces identifiers not in our form. Each account has its own key (sender.ts). */
  readonly hashKey: Uint8Array | string;
  /** Whether `userId` is the contact's e-mail address instead of the contactExternalID. */
  readonly userIDIsEmailaddress?: boolean;
}

/** The maximum size of a message with its batch's context, as JSON, in UTF-16 code units. */
export const maxMessageLength = 32 * 1024;

export const toRecord = (value: unknown): RequestFields => (isRecord(value) ? value : {});

/** Identifiers can be numbers. JSON.parse rounds numbers beyond 2^53, so `toCall` refuses them. */
const text = (value: unknown): string | undefined => {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** Returns an identifier in our form: unchanged if it fits, otherwise the base64url of its HMAC-SHA256. */
const toIdentifier = (pattern: RegExp, value: string | undefined, hashKey: Uint8Array | string): string | undefined => {
  if (value === undefined || pattern.test(value)) return value;
  return createHmac('sha256', hashKey).update(value).digest('base64url');
};

const maxURLLength = 4_096;
const toURL = (value: unknown): URL | undefined => {
  if (typeof value !== 'string' || value.length > maxURLLength || !URL.canParse(value)) return undefined;
  return new URL(value);
};

/** The last two labels of a host. Hosts that share them count as one site, as in the tracker. */
const siteOf = ({ hostname }: URL): string => hostname.split('.').slice(-2).join('.');

/**
 * Returns the referrer, without its query if it might be a page on the same site: the query might contain a secret.
 */
const toReferrer = (value: unknown, page: URL | undefined): string => {
  const referrer = toURL(value);
  if (referrer === undefined) return '';
  const isOther = page !== undefined && siteOf(page) !== siteOf(referrer);
  return isOther ? `${referrer.origin}${referrer.pathname}${referrer.search}` : referrer.origin + referrer.pathname;
};

/** The query parameters that the tracker also logs. Other parameters might be secrets. */
const isCampaignParameter = (name: string): boolean => /^(?:utm_.*|ref)$/.test(name);

const campaignNames = new Map([
  ['name', 'utm_campaign'],
  ['source', 'utm_source'],
  ['medium', 'utm_medium'],
  ['term', 'utm_term'],
  ['content', 'utm_content'],
]);

/** The attributes of a page view, under the names that the tracker uses. */
const pageAttributes = (message: RequestFields, properties: RequestFields): RequestFields => {
  const context = toRecord(message.context);
  // `url` and `search` contain the whole query, of which only the campaign is stored.
  const { path, title, referrer, search, url, ...others } = { ...toRecord(context.page), ...properties };
  const page = toURL(url);
  const [name, category] = [text(message.name), text(message.category)];
  const viewedPath = text(path) ?? page?.pathname ?? name;
  const viewedTitle = text(title) ?? name;
  const query = new URLSearchParams((text(search) ?? page?.search ?? '').slice(0, maxURLLength));
  return {
    ...(name !== undefined && { name }),
    ...(category !== undefined && { category }),
    ...others,
    ...(viewedPath !== undefined && { path: viewedPath }),
    ...(viewedTitle !== undefined && { title: viewedTitle }),
    referrer: toReferrer(referrer, page),
    ...Object.fromEntries([...query].filter(([parameter]) => isCampaignParameter(parameter))),
    ...Object.fromEntries(
      Object.entries(toRecord(context.campaign)).map(([key, value]) => [campaignNames.get(key) ?? `utm_${key}`, value]),
    ),
  };
};

/** Contact fields by the names of Segment's reserved traits, which can be in camel or snake case. */
const contactFields = new Map([
  ['email', 'contactEmailaddress'],
  ['firstname', 'contactFirstname'],
  ['lastname', 'contactLastname'],
  ['phone', 'contactTelephone'],
  ['mobile', 'contactMobile'],
  ['title', 'contactJobRole'],
]);

/** Converts reserved traits to contact fields, and other traits to attributes. */
const contactInput = (traits: RequestFields): RequestFields => {
  const fields: Record<string, string | undefined> = {};
  const attributes: [name: string, value: unknown][] = [];
  let names: RequestFields = {};
  for (const [name, value] of Object.entries(traits)) {
    const field = contactFields.get(name.toLowerCase().replaceAll('_', ''));
    const whole = name === 'name' ? text(value) : undefined;
    if (field !== undefined) fields[field] = text(value);
    else if (whole === undefined) attributes.push([name, value]);
    else {
      const [first, ...rest] = whole.split(' ');
      names = { contactFirstname: first, ...(rest.length > 0 && { contactLastname: rest.join(' ') }) };
    }
  }
  const hasOwnNames = fields.contactFirstname !== undefined || fields.contactLastname !== undefined;
  return {
    ...(!hasOwnNames && names),
    ...fields,
    ...(attributes.length > 0 && { contactAttr: Object.fromEntries(attributes) }),
  };
};

const requires = (field: string, why: string): Refusal =>
  new Refusal('missing_field', { field, message: `\`${field}\` is required: ${why}` });

const invalid = (field: string, reason: string): Refusal =>
  new Refusal('invalid_field', { field, message: `\`${field}\` ${reason}` });

const identifiers = ['anonymousId', 'userId', 'previousId', 'messageId', 'groupId'];

/** Returns the reason why an identifier can't be used; undefined if all can be used. */
const findIdentifierProblem = (
  message: RequestFields,
  { isUserNamed, userIDIsEmailaddress }: Pick<Sender, 'userIDIsEmailaddress'> & { readonly isUserNamed: boolean },
): Refusal | undefined => {
  const unsafe = identifiers.find((name) => typeof message[name] === 'number' && !Number.isSafeInteger(message[name]));
  if (unsafe !== undefined) return invalid(unsafe, "is a number that JSON can't represent exactly: send it as text");
  const userId = text(message.userId);
  if (userId === undefined || !isUserNamed) return undefined;
  if (userIDIsEmailaddress)
    return parseAddress(userId) === undefined
      ? invalid('userId', 'must be an e-mail address, as the account’s settings say')
      : undefined;
  const { error } = externalID.safeParse(userId);
  return error && invalid('userId', `${error.issues[0]?.message}`);
};

const withoutContact = ({ operation, input }: SegmentCall): SegmentCall => {
  const { contactExternalID: _, contactEmailaddress: __, ...others } = input;
  return { operation, input: others };
};

/** Returns functions that create operation input with a message's identifiers. */
const createCalls = (message: RequestFields, { fromBrowser, hashKey, userIDIsEmailaddress = false }: Sender) => {
  const userId = text(message.userId);
  const key =
    userId === undefined ? {} : { [userIDIsEmailaddress ? 'contactEmailaddress' : 'contactExternalID']: userId };
  const messageId = toIdentifier(eventUUIDPattern, text(message.messageId), hashKey);
  const toUser = (anonymousId: unknown) => toIdentifier(userUUIDPattern, text(anonymousId), hashKey);
  const userUUID = toUser(message.anonymousId);
  return {
    event: (eventName: string | undefined, attributes: unknown): SegmentCall => ({
      operation: 'logEvent',
      input: {
        userUUID,
        // With a browser token, an identify message's claim links the events to the contact.
        ...(!fromBrowser && key),
        eventName,
        eventUUID: messageId,
        eventTime: message.originalTimestamp ?? message.timestamp,
        eventAttrArray: isRecord(attributes) ? attributes : undefined,
      },
    }),
    contact: (traits: RequestFields, previousId?: unknown): SegmentCall => ({
      operation: 'createContact',
      input: { userUUID: toUser(previousId) ?? userUUID, ...contactInput(traits), ...key, requestUUID: messageId },
    }),
  };
};

/** Maps a message by its type. `context` is the message's context, merged with the batch's context. */
const mapType = (
  message: RequestFields,
  context: RequestFields,
  { event, contact }: ReturnType<typeof createCalls>,
): SegmentCall | SegmentProblem => {
  const properties = toRecord(message.properties);
  switch (message.type) {
    case 'track': {
      const name = text(message.event);
      const call = event(name, properties);
      return name === undefined ? { ...call, refusal: requires('event', 'the event name') } : call;
    }
    case 'page':
    case 'screen':
      return event(pageViewName, pageAttributes({ ...message, context }, properties));
    case 'group':
      return event('Group joined', { groupId: message.groupId ?? null, ...toRecord(message.traits) });
    case 'identify': {
      const traits = { ...toRecord(context.traits), ...toRecord(message.traits) };
      const isNamed = text(message.userId) !== undefined || text(traits.email) !== undefined;
      return isNamed ? contact(traits) : event('Identified', traits);
    }
    case 'alias': {
      const call = contact({}, message.previousId);
      const isNamed = text(message.userId) !== undefined;
      return isNamed ? call : { ...call, refusal: requires('userId', 'the new ID of the person') };
    }
    default: {
      const reason = 'must be track, identify, page, screen, group or alias';
      return { ...event(undefined, properties), refusal: invalid('type', reason) };
    }
  }
};

/**
 * Maps one message. `outer` is its batch's context; the message's own context takes precedence. `length` is the size of
 * the message and `outer` as JSON.
 */
export const toCall = (
  message: unknown,
  sender: Sender,
  outer: RequestFields = {},
  length = 0,
): SegmentCall | SegmentProblem => {
  if (!isRecord(message)) {
    const refusal = new Refusal('invalid_field', { field: 'batch', message: 'a message must be an object' });
    return { operation: 'logEvent', input: {}, refusal };
  }
  const calls = createCalls(message, sender);
  if (length > maxMessageLength) {
    const reason = `the message with its batch’s context is over ${maxMessageLength} characters`;
    return {
      ...calls.event(undefined, {}),
      refusal: new Refusal('invalid_field', { field: 'batch', message: reason }),
    };
  }
  const call = mapType(message, { ...outer, ...toRecord(message.context) }, calls);
  if ('refusal' in call) return call;
  const { fromBrowser, userIDIsEmailaddress = false } = sender;
  const isContact = call.operation === 'createContact';
  const isUserNamed = isContact || !fromBrowser;
  const problem = findIdentifierProblem(message, { isUserNamed, userIDIsEmailaddress });
  if (problem) return { ...withoutContact(call), refusal: problem };
  const isNamed =
    call.input.userUUID !== undefined || (!fromBrowser && (isContact || text(message.userId) !== undefined));
  return isNamed
    ? call
    : { ...call, refusal: requires('anonymousId', fromBrowser ? 'the browser' : 'unless `userId` is given') };
};
