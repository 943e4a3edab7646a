/**
 * Maps the messages of Segment's HTTP API to operations of Firsthand. Pure: the same message always gives the same input.
 *
 * | message | operation |
 * |---|---|
 * | `track` | logEvent with the name `event` and the attributes `properties` |
 * | `page`, `screen` | logEvent of a page view, with path, title, referrer and campaign |
 * | `group` | logEvent `Group joined` with `groupId` and the group's traits |
 * | `identify` | createContact, which links the browser; without `userId` or `traits.email` logEvent `Identified` |
 * | `alias` | createContact of `userId`, which links the browser `previousId` |
 */
import { createHmac } from 'node:crypto';
import { isRecord } from '@firsthand/contract/checking';
import { eventUUIDPattern, userUUIDPattern } from '@firsthand/contract/identifiers';
import { Refusal } from '../../shared/refusal.ts';
import type { RequestFields } from '../request/input.ts';
import { pageViewName } from '../script-tag.ts';

/** The input of an operation. It is checked like that of any other request. */
export interface SegmentCall {
  readonly operation: 'logEvent' | 'createContact';
  readonly input: RequestFields;
}

/** Why a message can't be mapped, with what is known of it. */
export interface SegmentProblem extends SegmentCall {
  readonly refusal: Refusal;
}

export interface Sender {
  /** A browser token makes claims, and names no contacts. */
  readonly fromBrowser: boolean;
  /** The key of the hash that replaces identifiers of other forms. It is another one for each account. */
  readonly hashKey: string;
}

const maxMessageLength = 32 * 1024;

const record = (value: unknown): RequestFields => (isRecord(value) ? value : {});

/** Identifiers may be numbers. */
const text = (value: unknown): string | undefined => {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** An identifier in our form: unchanged if it fits, otherwise the base64url of its HMAC-SHA256. */
const toIdentifier = (pattern: RegExp, value: string | undefined, hashKey: string): string | undefined => {
  if (value === undefined || pattern.test(value)) return value;
  return createHmac('sha256', hashKey).update(value).digest('base64url');
};

/** The query parameters that the tracker logs as well. Others may hold secrets. */
const isCampaignParameter = (name: string): boolean => /^(?:utm_.*|ref)$/.test(name);

const campaignNames: Readonly<Record<string, string>> = {
  name: 'utm_campaign',
  source: 'utm_source',
  medium: 'utm_medium',
  term: 'utm_term',
  content: 'utm_content',
};

/** The attributes of a page view, by the names that the tracker gives them. */
const pageAttributes = (message: RequestFields, properties: RequestFields): RequestFields => {
  const context = record(message.context);
  // `url` and `search` have the whole query, of which only the campaign is stored.
  const { path, title, referrer, search, url, ...others } = { ...record(context.page), ...properties };
  const name = text(message.name);
  const query = new URLSearchParams((text(search) ?? text(url)?.split('?')[1] ?? '').slice(0, 4_096));
  return {
    ...(name !== undefined && { name }),
    ...(text(message.category) !== undefined && { category: message.category }),
    ...others,
    path: text(path) ?? name,
    title: text(title) ?? name,
    referrer: text(referrer) ?? '',
    ...Object.fromEntries([...query].filter(([parameter]) => isCampaignParameter(parameter))),
    ...Object.fromEntries(
      Object.entries(record(context.campaign)).map(([key, value]) => [campaignNames[key] ?? `utm_${key}`, value]),
    ),
  };
};

/** Fields of contacts by the names of traits that Segment reserves, in camel and snake case. */
const contactFields: Readonly<Record<string, string>> = {
  email: 'contactEmailaddress',
  firstname: 'contactFirstname',
  lastname: 'contactLastname',
  phone: 'contactTelephone',
  mobile: 'contactMobile',
  title: 'contactJobRole',
};

/** The fields of a contact that traits set, and the other traits as attributes. */
const contactInput = (traits: RequestFields): RequestFields => {
  const fields: RequestFields = {};
  const attributes: RequestFields = {};
  for (const [name, value] of Object.entries(traits)) {
    const field = contactFields[name.toLowerCase().replaceAll('_', '')];
    if (field !== undefined) fields[field] = text(value);
    else attributes[name] = value;
  }
  const whole = text(attributes.name);
  if (whole !== undefined && fields.contactFirstname === undefined && fields.contactLastname === undefined) {
    const [first = '', ...rest] = whole.split(' ');
    delete attributes.name;
    fields.contactFirstname = first;
    if (rest.length > 0) fields.contactLastname = rest.join(' ');
  }
  return { ...fields, ...(Object.keys(attributes).length > 0 && { contactAttr: attributes }) };
};

const requires = (field: string, why: string): Refusal =>
  new Refusal('missing_field', { field, message: `\`${field}\` is required: ${why}` });

/** Maps one message, into which the context of its batch has been merged. */
export const toCall = (message: unknown, { fromBrowser, hashKey }: Sender): SegmentCall | SegmentProblem => {
  if (!isRecord(message)) {
    const refusal = new Refusal('invalid_field', { field: 'batch', message: 'a message must be an object' });
    return { operation: 'logEvent', input: { event: message }, refusal };
  }
  const userUUID = toIdentifier(userUUIDPattern, text(message.anonymousId), hashKey);
  const userId = text(message.userId);
  const messageId = toIdentifier(eventUUIDPattern, text(message.messageId), hashKey);
  const event = (kind: RequestFields, attributes: unknown): SegmentCall => ({
    operation: 'logEvent',
    input: {
      userUUID,
      // With a browser token, the claim of an identify message gives the events to the contact.
      ...(!fromBrowser && { contactExternalID: userId }),
      ...kind,
      eventUUID: messageId,
      eventTime: message.originalTimestamp ?? message.timestamp,
      eventAttrArray: isRecord(attributes) ? attributes : undefined,
    },
  });
  const contact = (user: string | undefined, traits: RequestFields): SegmentCall => ({
    operation: 'createContact',
    input: {
      userUUID: user,
      contactExternalID: userId,
      ...contactInput(traits),
      ...(user !== undefined && { requestUUID: messageId }),
    },
  });
  const refuse = (call: SegmentCall, refusal: Refusal): SegmentProblem => ({ ...call, refusal });

  const toTyped = (): SegmentCall | SegmentProblem => {
    const properties = record(message.properties);
    const traits = { ...record(record(message.context).traits), ...record(message.traits) };
    switch (message.type) {
      case 'track': {
        const name = text(message.event);
        const call = event({ eventName: name }, properties);
        return name === undefined ? refuse(call, requires('event', 'the name of the event')) : call;
      }
      case 'page':
      case 'screen':
        return event({ eventName: pageViewName }, pageAttributes(message, properties));
      case 'group':
        return event({ eventName: 'Group joined' }, { groupId: message.groupId, ...record(message.traits) });
      case 'identify':
        return userId === undefined && text(traits.email) === undefined
          ? event({ eventName: 'Identified' }, traits)
          : contact(userUUID, traits);
      case 'alias': {
        const previous = toIdentifier(userUUIDPattern, text(message.previousId), hashKey);
        const call = contact(previous ?? userUUID, {});
        return userId === undefined ? refuse(call, requires('userId', 'the new ID of the person')) : call;
      }
      default:
        return refuse(
          event({}, properties),
          new Refusal('invalid_field', {
            field: 'type',
            message: '`type` must be track, identify, page, screen, group or alias',
          }),
        );
    }
  };

  const call = toTyped();
  if ('refusal' in call) return call;
  if (userUUID === undefined && (fromBrowser || (userId === undefined && message.type !== 'identify')))
    return call.operation === 'createContact' && call.input.userUUID !== undefined
      ? call
      : refuse(call, requires('anonymousId', fromBrowser ? 'the ID of the browser' : 'unless `userId` is given'));
  if (JSON.stringify(message).length > maxMessageLength) {
    const reason = `a message may have at most ${maxMessageLength} characters`;
    return {
      operation: 'logEvent',
      input: { userUUID, eventUUID: messageId },
      refusal: new Refusal('body_too_large', { message: reason }),
    };
  }
  return call;
};

/** The messages of a request to `…/batch`, `…/import` or `…/b`, each with the context and integrations of the whole. */
export const messagesOf = (batch: readonly unknown[], outer: RequestFields): unknown[] =>
  batch.map((message) =>
    isRecord(message) ? { ...message, context: { ...record(outer.context), ...record(message.context) } } : message,
  );
