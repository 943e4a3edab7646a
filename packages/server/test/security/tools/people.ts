/** People with a past, each of whose values holds a mark that is in no other text: where the mark is, something of the person is. */
import type { Books } from './books.ts';

export interface Tokens {
  readonly server: string;
  readonly browser: string;
}

export interface Person {
  /** What must not be found once the person is erased: the mark, and the identifiers that the server has made. */
  readonly traces: readonly string[];
  /** What the audit log goes on naming them by: their own, and that of the contact that was merged with them. */
  readonly contactUUIDs: readonly string[];
  /** What must not be found once the events are deleted as well. */
  readonly eventTrace: string;
  readonly address: string;
  readonly contactUUID: string;
  /** The events that are this person's. */
  readonly events: number;
  /** Sends again what the browser and the server sent of this person; answers the statuses. */
  retry(url: string): Promise<string[]>;
}

export interface Surroundings {
  readonly books: Books;
  readonly url: string;
  readonly tokens: Tokens;
  /** From 0 to below 1. */
  readonly random: () => number;
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

const createMark = (random: () => number): string =>
  Array.from({ length: 12 }, () => letters[Math.floor(random() * letters.length)]).join('');

const must = <Each extends { status: number; body: unknown }>(answer: Each, status = 200): Each => {
  if (answer.status === status) return answer;
  throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`);
};

/** A contact among others, with values of every length. */
export const addBystander = async ({ books, url, tokens, random }: Surroundings): Promise<void> => {
  const mark = createMark(random);
  const { body } = must(
    await books.ask(url, 'createContact', {
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
  must(
    await books.ask(url, 'updateContact', {
      tokenUUID: tokens.server,
      contactUUID: body.contactUUID,
      contactLastname: mark.repeat(1 + random() * 15),
    }),
  );
};

/**
 * A contact as it comes to be: a browser logs events and claims to be it, the server creates and changes it, another record
 * is merged into it, requests that name it are refused.
 */
export const addPerson = async (surroundings: Surroundings, events: number): Promise<Person> => {
  const { books, url, tokens, random } = surroundings;
  const mark = createMark(random);
  const userUUID = `visitor-${createMark(random)}`;
  const otherUser = `visitor-${createMark(random)}`;
  const address = `${mark}@${mark}.example`;
  const eventTrace = createMark(random);
  const long = mark.repeat(170);
  const { server, browser } = tokens;
  const ask = (operation: Parameters<Books['ask']>[1], fields: object) => books.ask(url, operation, { ...fields });
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
  for (let from = 0; from < events; from += 1_000) must(await ask('logEvents', events1000(from)));

  const claim = {
    tokenUUID: browser,
    userUUID,
    requestUUID: `claim-${userUUID}`,
    contactEmailaddress: address,
    contactFirstname: `${mark}-claimed`,
    contactProfileID: 'customer',
    contactAttr: [{ attrID: 'attr-claimed', attrValue: long.slice(0, 900) }],
  };
  const handle = must(await ask('createContact', claim)).body.contactUUID as string;
  must(await ask('createContact', { ...claim, requestUUID: undefined, userUUID: otherUser, contactTelephone: mark }));
  must(await ask('createContact', { ...claim, requestUUID: undefined, contactJobRole: long.slice(0, 200) }));

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
      { attrID: 'long', attrValue: long },
    ],
  };
  const { contactUUID } = must(await ask('createContact', creation)).body as { contactUUID: string };
  const byID = { tokenUUID: browser, userUUID: otherUser, contactExternalID: creation.contactExternalID };
  must(await ask('createContact', { ...byID, contactProfileID: 'customer' }));
  const direct = { tokenUUID: server, contactUUID, eventID: 4, eventUUID: eventUUID(-1), eventAttrArray: attributes };
  must(await ask('logEvent', direct));
  const byHandle = { tokenUUID: browser, contactUUID: handle, eventID: 5, eventUUID: eventUUID(-2) };
  must(await ask('logEvent', byHandle));

  // Another record of the same person, with values of its own that are changed again.
  const elsewhere = {
    ...creation,
    userUUID: otherUser,
    requestUUID: undefined,
    contactExternalID: `other-${mark}`,
    contactEmailaddress: `other-${address}`,
  };
  const merged = must(await ask('createContact', elsewhere)).body.contactUUID as string;
  must(await ask('mergeContact', { tokenUUID: server, contactUUID, otherContactUUID: merged }));
  for (const value of [long.slice(0, 1_500), mark, mark.repeat(40)]) {
    const contactAttr = [{ attrID: 'long', attrValue: value }];
    must(
      await ask('updateContact', { tokenUUID: server, contactUUID, contactJobRole: value.slice(0, 250), contactAttr }),
    );
  }

  // Each names the person in another way.
  must(await ask('createContact', { ...claim, requestUUID: undefined, contactProfileID: '', userUUID: 'x' }), 400);
  must(await ask('updateContact', { tokenUUID: server, contactUUID, contactFirstname: mark.repeat(30) }), 400);
  const byExternalID = { tokenUUID: server, contactExternalID: creation.contactExternalID, contactStatus: 'sleeping' };
  must(await ask('updateContact', byExternalID), 400);
  must(await ask('logEvent', { tokenUUID: browser, userUUID, eventID: mark }), 400);
  must(
    await ask('logEvent', { tokenUUID: browser, contactUUID: handle, eventID: -1, eventAttrArray: attributes }),
    400,
  );
  must(await ask('logEvents', { tokenUUID: server, event: [{ contactUUID: merged, eventID: mark }] }));
  must(await books.askText(url, 'createContact', `{"contactEmailaddress": "${address}", oh`, server), 400);
  must(
    await books.askText(url, 'createContact', `{"contactEmailaddress": "${mark}\\u0040${mark}.example", oh`, server),
    400,
  );

  const retry = async (now: string) => {
    const ask = (operation: Parameters<Books['ask']>[1], fields: object) => books.ask(now, operation, { ...fields });
    const answers = [
      await ask('createContact', claim),
      await ask('createContact', creation),
      await ask('logEvent', direct),
      await ask('logEvent', byHandle),
    ];
    const batch = await ask('logEvents', events1000(0));
    const entries = (batch.body.event as { status: string; duplicate?: boolean }[]) ?? [];
    const ofEntries = entries.map(({ status, duplicate }) => (duplicate ? 'duplicate' : status));
    return [...answers.map(({ status }) => String(status)), ...new Set(ofEntries)];
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
