/** Reads webhook messages, in the order of events and statements, and builds their bodies. */
import type { WebhookType } from '@firsthand/contract/webhook';
import { Refusal } from '../../shared/refusal.ts';
import type { Fact, Store, StoredEvent, Webhook } from '../../store/store.ts';
import { contactResponse } from '../operations/contact-responses.ts';
import { eventResponse } from '../operations/events.ts';
import { isoTime } from '../responses/iso-time.ts';
import { toMessageID } from './signature.ts';

export type MessageStore = Pick<Store, 'getLastSequence' | 'getEvents' | 'listFacts' | 'getContact'>;

export interface Message {
  readonly sequence: number;
  readonly type: WebhookType;
  readonly time: number;
  readonly subject: { readonly event: StoredEvent } | { readonly fact: Fact };
}

const fromEvent = (event: StoredEvent): Message => {
  const { sequence, receivedTime: time } = event;
  return { sequence, time, type: 'event.logged', subject: { event } };
};
const fromFact = (fact: Fact): Message => ({
  sequence: fact.sequence,
  time: fact.time,
  type: fact.type,
  subject: { fact },
});

/** Returns the last sequence number: a webhook created now sends only later messages. */
export const readLastSequence = (store: Pick<Store, 'getLastSequence'>, account: number): Promise<number> =>
  store.getLastSequence({ account });

interface MessagePage {
  readonly messages: readonly Message[];
  /** All messages up to this sequence number have been read. */
  readonly through: number;
  readonly more: boolean;
}

/** Reads about `limit` of a webhook's messages after a sequence number. */
export const readMessages = async (
  store: MessageStore,
  { account, webhookID, types, filter }: Pick<Webhook, 'account' | 'webhookID' | 'types' | 'filter'>,
  { after, limit }: { after: number; limit: number },
): Promise<MessagePage> => {
  const { eventNames = [], attrID, attrValue } = filter;
  const [eventName] = eventNames.length === 1 ? eventNames : [];
  const page = types.includes('event.logged')
    ? await store.getEvents({ account, order: 'asc', beyond: after, limit, eventName, attrID, attrValue })
    : { events: [], through: await readLastSequence(store, account), next: null };
  const recognized = types.includes('contact.recognized');
  const wantsFacts = types.some((type) => type !== 'event.logged');
  const { facts, through } = wantsFacts
    ? await store.listFacts({ account, after, through: page.through, limit, recognized, webhookID })
    : { facts: [], through: page.through };
  const isWanted = (event: StoredEvent) =>
    event.sequence <= through && (eventNames.length <= 1 || eventNames.includes(event.eventName));
  const messages = [
    ...page.events.filter(isWanted).map(fromEvent),
    ...facts.filter(({ type }) => types.includes(type)).map(fromFact),
  ].sort((a, b) => a.sequence - b.sequence);
  return { messages, through: Math.max(after, through), more: page.next !== null || through < page.through };
};

/** Reads one message; undefined if it no longer exists, for example after an erasure. */
export const readMessage = async (
  store: MessageStore,
  { account, webhookID }: Pick<Webhook, 'account' | 'webhookID'>,
  sequence: number,
): Promise<Message | undefined> => {
  const range = { account, after: sequence - 1, through: sequence, limit: 1, recognized: true, webhookID };
  const [{ facts }, { events }] = await Promise.all([
    store.listFacts(range),
    store.getEvents({ account, order: 'asc', beyond: sequence - 1, limit: 1 }),
  ]);
  const found = [...facts.map(fromFact), ...events.map(fromEvent)];
  return found.find((message) => message.sequence === sequence);
};

const omitEmpty = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));

type DataRequest = Pick<Webhook, 'account' | 'payload'>;

const readData = async (store: MessageStore, { account, payload }: DataRequest, { subject }: Message) => {
  if ('event' in subject) {
    const { event } = subject;
    const { eventUUID, eventID, eventName, userUUID, contactUUID } = event;
    return payload === 'full' ? eventResponse(event) : { eventUUID, eventID, eventName, userUUID, contactUUID };
  }
  const { contactUUID, otherContactUUID, userUUID, detail } = subject.fact;
  const data = { ...omitEmpty({ contactUUID, otherContactUUID, userUUID }), ...detail };
  if (payload === 'thin' || contactUUID === '') return data;
  const contact = await store.getContact({ account, token: 0, browser: false, contactUUID, include: [] });
  return { ...data, contact: contactResponse(contact) };
};

export interface Body {
  readonly messageID: string;
  readonly payload: {
    readonly type: WebhookType;
    readonly timestamp: string;
    readonly sequence: number;
    readonly data: object;
  };
}

/** Builds a message's body; undefined if its contact no longer exists. */
export const buildBody = async (
  store: MessageStore,
  webhook: DataRequest & Pick<Webhook, 'webhookID'>,
  message: Message,
): Promise<Body | undefined> => {
  const { sequence, type, time, subject } = message;
  try {
    const data = await readData(store, webhook, message);
    const identity = 'event' in subject ? subject.event.eventUUID : `${type} ${time}`;
    const messageID = toMessageID(webhook.webhookID, sequence, identity);
    return { messageID, payload: { type, timestamp: isoTime(time), sequence, data } };
  } catch (error) {
    if (error instanceof Refusal && (error.code === 'erased_contact' || error.code === 'unknown_contact'))
      return undefined;
    throw error;
  }
};
