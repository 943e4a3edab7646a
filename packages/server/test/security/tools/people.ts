/**
 * Creates people whose data contains a unique mark in every value: a place with the mark contains that person's data.
 */
import type { ResponseCounter } from './response-counter.ts';

export interface Tokens {
  readonly server: string;
  readonly browser: string;
}

export interface Person {
  /** Strings that must be gone after the erasure: the mark, and the handle that the server created. */
  readonly traces: readonly string[];
  /** The contactUUIDs that remain in the audit log: the person's own, and the merged contact's. */
  readonly contactUUIDs: readonly string[];
  /** Text that must also be gone once the events are deleted. */
  readonly eventTrace: string;
  readonly address: string;
  readonly contactUUID: string;
  /** How many events the person has. */
  readonly events: number;
  /** Resends what the browser and the server sent about this person. Returns the statuses. */
  retry(url: string): Promise<string[]>;
}

export interface PeopleContext {
  readonly counter: ResponseCounter;
  readonly url: string;
  readonly tokens: Tokens;
  /** Returns a number that is at least 0 and less than 1. */
  readonly random: () => number;
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

const createMark = (random: () => number): string =>
  Array.from({ length: 12 }, () => letters[Math.floor(random() * letters.length)]).join('');

const expectStatus = <Each extends { status: number; body: unknown }>(response: Each, status = 200): Each => {
  if (response.status === status) return response;
  throw new Error(`expected ${status}, got ${response.status}: ${JSON.stringify(response.body)}`);
};

/** Creates an unrelated contact, with values of random lengths. */
export const addBystander = async ({ counter, url, tokens, random }: PeopleContext): Promise<void> => {
  const mark = createMark(random);
  const { body } = expectStatus(
    await counter.call(url, 'createContact', {
      tokenUUID: tokens.server,
      userUUID: `bystander-${mark}`,
      contactEmailaddress: `${mark}@bystander.example`,
      contactFirstname: mark.repeat(1 + random() * 5),
      contactProfileID: 'customer',
      contactAttr: Array.from({ length: Math.floor(random() * 4) }, (_, nth) => ({
        attrID: `attr-${nth}`,
        attrValue: mark.repeat(1 + random() ** 4 * 150),
      })),
    }),
  );
  if (random() < 0.5) return;
  expectStatus(
    await counter.call(url, 'updateContact', {
      tokenUUID: tokens.server,
      contactUUID: body.contactUUID,
      contactLastname: mark.repeat(1 + random() * 15),
    }),
  );
};

/**
 * Creates a person with a full history. A browser logs events and claims. The server creates and changes the contact,
 * and merges another contact into it. Requests that refer to the person are refused.
 */
export const addPerson = async (peopleContext: PeopleContext, events: number): Promise<Person> => {
  const { counter, url, tokens, random } = peopleContext;
  const mark = createMark(random);
  const userUUID = `visitor-${createMark(random)}`;
  const otherUser = `visitor-${createMark(random)}`;
  const address = `${mark}@${mark}.example`;
  const eventTrace = createMark(random);
  const longText = mark.repeat(170);
  const { server, browser } = tokens;
  const call = (operation: Parameters<ResponseCounter['call']>[1], fields: object) =>
    counter.call(url, operation, { ...fields });
  const eventUUID = (nth: number) => `event-${mark.slice(0, 4)}-${userUUID}-${nth}`;

  const attributes = [{ attrID: 'said', attrValue: eventTrace.repeat(4) }];
  const events1000 = (from: number) => ({
    tokenUUID: browser,
    userUUID,
    event: Array.from({ length: Math.min(1_000, events - from) }, (_, nth) => ({
      eventID: 1 + (nth % 3),
      eventUUID: eventUUID(from + nth),
      eventAttrArray: attributes,
    })),
  });
  for (let from = 0; from < events; from += 1_000) expectStatus(await call('logEvents', events1000(from)));

  const claim = {
    tokenUUID: browser,
    userUUID,
    requestUUID: `claim-${userUUID}`,
    contactEmailaddress: address,
    contactFirstname: `${mark}-claimed`,
    contactProfileID: 'customer',
    contactAttr: [{ attrID: 'attr-claimed', attrValue: longText.slice(0, 900) }],
  };
  const handle = expectStatus(await call('createContact', claim)).body.contactUUID as string;
  expectStatus(
    await call('createContact', { ...claim, requestUUID: undefined, userUUID: otherUser, contactTelephone: mark }),
  );
  expectStatus(
    await call('createContact', { ...claim, requestUUID: undefined, contactJobRole: longText.slice(0, 200) }),
  );

  const creation = {
    tokenUUID: server,
    userUUID,
    requestUUID: `create-${userUUID}`,
    contactExternalID: `customer-${mark}`,
    contactEmailaddress: address.toUpperCase(),
    contactFirstname: mark,
    contactLastname: mark.repeat(3),
    contactProfileID: 'customer',
    contactTagID: 'newsletter',
    contactAttr: [
      { attrID: 'birthday', attrValue: mark },
      { attrID: 'long', attrValue: longText },
    ],
  };
  const { contactUUID } = expectStatus(await call('createContact', creation)).body as { contactUUID: string };
  const byID = { tokenUUID: browser, userUUID: otherUser, contactExternalID: creation.contactExternalID };
  expectStatus(await call('createContact', { ...byID, contactProfileID: 'customer' }));
  const direct = { tokenUUID: server, contactUUID, eventID: 4, eventUUID: eventUUID(-1), eventAttrArray: attributes };
  expectStatus(await call('logEvent', direct));
  const byHandle = { tokenUUID: browser, contactUUID: handle, eventID: 5, eventUUID: eventUUID(-2) };
  expectStatus(await call('logEvent', byHandle));

  // Creates another contact for the same person, with its own values. It is merged and changed repeatedly.
  const otherCreation = {
    ...creation,
    userUUID: otherUser,
    requestUUID: undefined,
    contactExternalID: `other-${mark}`,
    contactEmailaddress: `other-${address}`,
  };
  const merged = expectStatus(await call('createContact', otherCreation)).body.contactUUID as string;
  expectStatus(await call('mergeContact', { tokenUUID: server, contactUUID, otherContactUUID: merged }));
  for (const value of [longText.slice(0, 1_500), mark, mark.repeat(40)]) {
    const contactAttr = [{ attrID: 'long', attrValue: value }];
    expectStatus(
      await call('updateContact', { tokenUUID: server, contactUUID, contactJobRole: value.slice(0, 250), contactAttr }),
    );
  }

  // Sends requests that are refused, each of which identifies the person in a different way.
  expectStatus(
    await call('createContact', { ...claim, requestUUID: undefined, contactProfileID: '', userUUID: 'x' }),
    400,
  );
  expectStatus(await call('updateContact', { tokenUUID: server, contactUUID, contactFirstname: mark.repeat(30) }), 400);
  const byExternalID = { tokenUUID: server, contactExternalID: creation.contactExternalID, contactStatus: 'sleeping' };
  expectStatus(await call('updateContact', byExternalID), 400);
  expectStatus(await call('logEvent', { tokenUUID: browser, userUUID, eventID: mark }), 400);
  expectStatus(
    await call('logEvent', { tokenUUID: browser, contactUUID: handle, eventID: -1, eventAttrArray: attributes }),
    400,
  );
  expectStatus(await call('logEvents', { tokenUUID: server, event: [{ contactUUID: merged, eventID: mark }] }));
  expectStatus(
    await counter.callWithText(url, 'createContact', `{"contactEmailaddress": "${address}", oh`, server),
    400,
  );
  expectStatus(
    await counter.callWithText(
      url,
      'createContact',
      `{"contactEmailaddress": "${mark}\\u0040${mark}.example", oh`,
      server,
    ),
    400,
  );

  const retry = async (newURL: string) => {
    const call = (operation: Parameters<ResponseCounter['call']>[1], fields: object) =>
      counter.call(newURL, operation, { ...fields });
    const responses = [
      await call('createContact', claim),
      await call('createContact', creation),
      await call('logEvent', direct),
      await call('logEvent', byHandle),
    ];
    const batch = await call('logEvents', events1000(0));
    const entries = (batch.body.event as { status: string; duplicate?: boolean }[]) ?? [];
    const entryStatuses = entries.map(({ status, duplicate }) => (duplicate ? 'duplicate' : status));
    return [...responses.map(({ status }) => String(status)), ...new Set(entryStatuses)];
  };
  return {
    traces: [mark, handle],
    contactUUIDs: [contactUUID, merged],
    eventTrace,
    address,
    contactUUID,
    events: events + 2,
    retry,
  };
};
