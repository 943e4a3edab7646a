/** Reads what the service stores about one browser, for the demo page. */
import { Refusal } from '../shared/refusal.ts';
import type { ClaimDetail, Store, StoreCaller } from '../store/store.ts';

const maxEvents = 50;

/** A contact as claimed by this browser. Data from other senders is not shown. */
interface Person {
  readonly contactUUID: string;
  readonly name: string;
  readonly address: string;
}

interface PanelEvent {
  readonly eventUUID: string;
  readonly eventID: number;
  readonly eventName: string;
  readonly eventTime: number;
  readonly attributes: readonly (readonly [attrID: string, attrValue: string])[];
  /** The owner; '' if the event has none. */
  readonly contactUUID: string;
  /** Whether the event was logged before the user was linked to the contact. */
  readonly loggedAnonymously: boolean;
}

export interface BrowserData {
  readonly userUUID: string;
  /** At most 50 events, newest first. */
  readonly events: readonly PanelEvent[];
  readonly hasMore: boolean;
  /** The owners of the events. */
  readonly people: readonly Person[];
}

const toPerson = (contactUUID: string, claims: readonly ClaimDetail[]): Person => {
  const latest = [...claims].sort((a, b) => b.updatedTime - a.updatedTime)[0];
  const { contactFirstname = '', contactLastname = '', contactEmailaddress = '' } = latest?.fields ?? {};
  return { contactUUID, name: `${contactFirstname} ${contactLastname}`.trim(), address: contactEmailaddress };
};

const findPerson = async (
  store: Store,
  caller: StoreCaller,
  userUUID: string,
  contactUUID: string,
): Promise<Person> => {
  try {
    const { claims = [] } = await store.getContact({ ...caller, contactUUID, include: ['claim'] });
    return toPerson(
      contactUUID,
      claims.filter((claim) => claim.userUUID === userUUID),
    );
  } catch (error) {
    // The contact was erased after its events were read.
    if (error instanceof Refusal && error.code !== 'unavailable') return toPerson(contactUUID, []);
    throw error;
  }
};

export const readBrowserData = async (store: Store, caller: StoreCaller, userUUID: string): Promise<BrowserData> => {
  const { events, next } = await store.getEvents({
    account: caller.account,
    userUUID,
    order: 'desc',
    limit: maxEvents,
  });
  const owners = [...new Set(events.map(({ contactUUID }) => contactUUID).filter(Boolean))];
  return {
    userUUID,
    events: events.map(({ eventUUID, eventID, eventName, eventTime, attributes, contactUUID, why }) => ({
      eventUUID,
      eventID,
      eventName,
      eventTime,
      attributes,
      contactUUID,
      loggedAnonymously: why.rule === 'reached back',
    })),
    hasMore: next !== null,
    people: await Promise.all(owners.map((contactUUID) => findPerson(store, caller, userUUID, contactUUID))),
  };
};
