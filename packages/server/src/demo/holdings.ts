/** What the service holds about one browser, as the demo page shows it. */
import { Refusal } from '../refusal.ts';
import type { Asker, ClaimDetail, Store } from '../store/store.ts';

const mostEvents = 50;

/** A contact in this browser's own words: what others said of the same contact is not shown. */
interface Person {
  readonly contactUUID: string;
  readonly name: string;
  readonly address: string;
}

interface HeldEvent {
  readonly eventUUID: string;
  readonly eventID: number;
  readonly eventName: string;
  readonly eventTime: number;
  readonly attributes: readonly (readonly [attrID: string, attrValue: string])[];
  /** '' while it is nobody's. */
  readonly contactUUID: string;
  /** Logged before anybody knew whose it is. */
  readonly loggedAnonymously: boolean;
}

export interface Holdings {
  readonly userUUID: string;
  /** Newest first, 50 at most. */
  readonly events: readonly HeldEvent[];
  readonly hasMore: boolean;
  /** Everybody whom the events belong to. */
  readonly people: readonly Person[];
}

const personOf = (contactUUID: string, claims: readonly ClaimDetail[]): Person => {
  const latest = [...claims].sort((a, b) => b.updatedTime - a.updatedTime)[0];
  const { contactFirstname = '', contactLastname = '', contactEmailaddress = '' } = latest?.fields ?? {};
  return { contactUUID, name: `${contactFirstname} ${contactLastname}`.trim(), address: contactEmailaddress };
};

type Reads = Pick<Store, 'getEvents' | 'getContact'>;

const findPerson = async (store: Reads, asker: Asker, userUUID: string, contactUUID: string): Promise<Person> => {
  try {
    const { claims = [] } = await store.getContact({ ...asker, contactUUID, include: ['claim'] });
    return personOf(
      contactUUID,
      claims.filter((claim) => claim.userUUID === userUUID),
    );
  } catch (error) {
    // Erased since its events were read.
    if (error instanceof Refusal && error.code !== 'not_kept') return personOf(contactUUID, []);
    throw error;
  }
};

export const readHoldings = async (store: Reads, asker: Asker, userUUID: string): Promise<Holdings> => {
  const { events, next } = await store.getEvents({
    account: asker.account,
    userUUID,
    order: 'desc',
    limit: mostEvents,
  });
  const owners = [...new Set(events.map(({ contactUUID }) => contactUUID))].filter((contactUUID) => contactUUID !== '');
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
    people: await Promise.all(owners.map((contactUUID) => findPerson(store, asker, userUUID, contactUUID))),
  };
};
