/** Plants an account with contacts and browsers that an attacker could harm, and checks that they are unharmed. */
import { limits } from '@firsthand/contract/limits';
import type { Fields, ParsedResponse, Scene } from '../../fixtures/scene.ts';

/** Part of every value that attackers don't know. A response that contains it is a leak. */
export const secret = 'known-to-nobody-else';

const names = ['ann', 'ben', 'cleo', 'dora'] as const;
export const addresses = names.map((name) => `${name}@shop.example`);
/** The same contacts' external IDs, except for the last contact, which has none. */
export const externalIDs = names.map((name) => `customer-${name}`);
/** Browsers whose userUUID the attacker knows. The last is anonymous; the others are linked. */
export const knownUsers = [...names.map((name) => `known-browser-of-${name}`), 'known-browser-of-nobody'];
/** Browsers whose userUUID the attacker does not know. */
const unknownUsers = [...names.map((name) => `other-browser-of-${name}`), 'other-browser-of-nobody'];

const catalogues = ['profile', 'tag', 'attr', 'event'] as const;
/** The number of entries in each catalogue. There is room for a few more. */
const listedCount = limits.idsPerCatalogue - 5;
const idOf = (kind: string, nth: number) => (kind === 'event' ? nth + 1 : `${kind}-${nth}`);
/** Returns a catalogue's entries. Browsers are not allowed to use the first entry. */
const catalogueOf = (kind: (typeof catalogues)[number]) =>
  Array.from({ length: listedCount }, (_, nth) => ({
    [`${kind}ID`]: idOf(kind, nth),
    [`${kind}Name`]: `Name of ${kind} ${nth}`,
    browser: nth > 0,
  }));

export interface PlantedAccount {
  readonly contactUUIDs: readonly string[];
  /** A handle that belongs to another browser token. */
  readonly otherHandle: string;
  readonly otherToken: string;
  readonly ids: Fields;
  /** Describes how the account differs from its planted state. */
  findViolations(): Promise<string[]>;
  /** Voids all claims of the browser token, then lists the events whose owner still differs from the original owner. */
  voidClaimsAndFindViolations(): Promise<string[]>;
}

const expectOK = ({ status, body }: ParsedResponse) => {
  if (status === 200) return body;
  throw new Error(`expected 200, got ${status}: ${JSON.stringify(body)}`);
};

const pageLimit = 1_000;

export const plant = async (scene: Scene): Promise<PlantedAccount> => {
  const { server } = scene.tokens;
  const post = async (path: string, fields: Fields) =>
    expectOK(await scene.post(path, { tokenUUID: server, ...fields }));
  const get = async (path: string, fields: Fields) => expectOK(await scene.get(path, { tokenUUID: server, ...fields }));

  await post('/account/updateAccount', Object.fromEntries(catalogues.map((kind) => [kind, catalogueOf(kind)])));
  const contactUUIDs: string[] = [];
  for (const [nth, name] of names.entries()) {
    for (const userUUID of [knownUsers[nth], unknownUsers[nth]]) {
      await post('/event/logEvents', {
        userUUID,
        event: [{ eventID: 2, eventUUID: `before-${name}` }, { eventID: 3 }],
      });
      const { contactUUID } = await post('/contact/createContact', {
        userUUID,
        contactEmailaddress: addresses[nth],
        ...(nth < names.length - 1 && { contactExternalID: externalIDs[nth] }),
        contactFirstname: `${secret} ${name}`,
        contactTitle: secret,
        contactLastname: nth % 2 === 0 ? secret : '',
        contactProfileID: 'profile-1',
        contactTagID: 'tag-1,tag-2',
        contactAttr: [
          { attrID: 'attr-1', attrValue: secret },
          { attrID: 'attr-2', attrValue: 'to be removed' },
        ],
        requestUUID: 'request-planted',
      });
      if (!contactUUIDs.includes(contactUUID)) contactUUIDs.push(contactUUID);
      await post('/event/logEvents', { userUUID, event: [{ eventID: 4, eventUUID: `after-${name}` }] });
    }
    // Values that the server cleared or removed also count as verified.
    await post('/contact/updateContact', {
      contactUUID: contactUUIDs[nth],
      contactTitle: null,
      contactTagID: '-tag-2',
      contactAttr: [{ attrID: 'attr-2', attrValue: null }],
    });
    await post('/event/logEvent', { contactUUID: contactUUIDs[nth], eventID: 5, eventUUID: `direct-${name}` });
  }
  for (const userUUID of [knownUsers.at(-1), unknownUsers.at(-1)]) {
    await post('/event/logEvents', { userUUID, event: [{ eventID: 2, eventUUID: 'of-nobody' }, { eventID: 3 }] });
  }
  const { tokenUUID: otherToken } = await post('/account/createToken', { tokenKind: 'browser' });
  const otherHandle = expectOK(
    await scene.post('/createContact', {
      tokenUUID: otherToken,
      userUUID: 'browser-of-the-other-token',
      contactEmailaddress: 'eve@shop.example',
      contactFirstname: secret,
      contactProfileID: 'profile-1',
    }),
  ).contactUUID as string;

  const readEvents = async () => {
    const { event } = await get('/event/getEvent', { order: 'asc', limit: pageLimit });
    return event as { eventUUID: string; userUUID: string; contactUUID: string; eventID: number }[];
  };
  const readAccount = async () => (await get('/account/getAccount', {})).account;
  const readContact = async (contactUUID: string, include = '') =>
    get('/contact/getContact', { contactUUID, ...(include && { include }) });

  const before = {
    events: await readEvents(),
    account: await readAccount(),
    contacts: await Promise.all(contactUUIDs.map((contactUUID) => readContact(contactUUID))),
  };
  const { token } = before.account;
  const attacker = token.find(({ tokenUUID }: { tokenUUID?: string }) => tokenUUID === scene.tokens.browser).tokenID;
  const firstContact = await readContact(contactUUIDs[0] as string, 'claim,link');
  const ids = { accountUUID: scene.accountUUID, tokenID: attacker, linkID: firstContact.link[0].linkID };

  /** Compares the planted events, which precede all other events. */
  const findMovedEvents = async (mayMove: (userUUID: string) => boolean): Promise<string[]> => {
    const now = await readEvents();
    return before.events.flatMap((event, index) => {
      const { contactUUID, ...rest } = now[index] ?? { contactUUID: 'none' };
      const { contactUUID: owner, ...earlier } = event;
      if (JSON.stringify(rest) !== JSON.stringify(earlier)) return `event ${event.eventUUID} changed`;
      if (contactUUID === owner || (owner === '' && mayMove(event.userUUID))) return [];
      return `event ${event.eventUUID} of ${event.userUUID} moved from ${owner} to ${contactUUID}`;
    });
  };

  type ContactResponse = (typeof before.contacts)[number]['contact'];
  const isSet = (contact: ContactResponse, name: string) =>
    contact[name] !== '' || name === 'contactTitle' || name === 'contactStatus';
  const findContactChanges = async (): Promise<string[]> => {
    const changes: string[] = [];
    for (const [nth, contactUUID] of contactUUIDs.entries()) {
      const earlier = before.contacts[nth]?.contact as ContactResponse;
      if (earlier.contactExternalID !== '') {
        const { contactExternalID } = earlier;
        const byExternalID = await get('/contact/getContact', { contactExternalID });
        if (byExternalID.contact.contactUUID !== contactUUID)
          changes.push(`${contactExternalID} names another contact`);
      }
      const { contact } = await readContact(contactUUID);
      for (const [name, value] of Object.entries(earlier)) {
        if (typeof value !== 'string' || !isSet(earlier, name)) continue;
        if (contact[name] !== value) changes.push(`${name} of ${contactUUID} is ${contact[name]}, was ${value}`);
      }
      const hasTag = (of: ContactResponse, id: string) =>
        of.tag.find(({ tagID }: { tagID: string }) => tagID === id)?.opt === true;
      if (!hasTag(contact, 'tag-1') || hasTag(contact, 'tag-2')) changes.push(`the tags of ${contactUUID} changed`);
      const attributeOf = (id: string) =>
        contact.contactAttr.find(({ attrID }: { attrID: string }) => attrID === id)?.attrValue;
      if (attributeOf('attr-1') !== secret || attributeOf('attr-2') !== undefined) {
        changes.push(`the attributes of ${contactUUID} changed`);
      }
    }
    return changes;
  };

  const findAccountChanges = async (): Promise<string[]> => {
    const now = await readAccount();
    const changes: string[] = [];
    for (const kind of catalogues) {
      if (now[kind].length > limits.idsPerCatalogue) changes.push(`${kind} lists ${now[kind].length}`);
      const entries = new Set(now[kind].map((entry: object) => JSON.stringify(entry)));
      const lost = before.account[kind].filter((entry: object) => !entries.has(JSON.stringify(entry))).length;
      if (lost > 0) changes.push(`${lost} entries of ${kind} changed`);
    }
    const settings = ['accountName', 'accountOrigin', 'accountTimezone', 'accountCurrency', 'strict', 'token'];
    for (const name of [...settings, 'defaultProfileID', 'userIDIsEmailaddress']) {
      if (JSON.stringify(now[name]) !== JSON.stringify(before.account[name])) changes.push(`${name} changed`);
    }
    return changes;
  };

  return {
    contactUUIDs,
    otherHandle,
    otherToken,
    ids,
    findViolations: async () => [
      ...(await findContactChanges()),
      ...(await findAccountChanges()),
      // Allows one change: anyone who knows a userUUID can claim a contact for that browser, whose anonymous events
      // then belong to that contact.
      ...(await findMovedEvents((userUUID) => userUUID === knownUsers.at(-1))),
    ],
    async voidClaimsAndFindViolations() {
      const to = new Date(Date.now() + 60_000).toISOString();
      await post('/contact/voidLink', { tokenID: attacker, from: '2020-01-01T00:00:00Z', to });
      return findMovedEvents(() => false);
    },
  };
};
