/** An account with contacts and browsers that an attacker means to harm, and what must still be so of them afterwards. */
import { limits } from '@firsthand/contract/limits';
import type { Answer, Fields, Scene } from '../../fixtures/scene.ts';

/** Values that no attacker knows: an answer that holds one has told it. */
export const secret = 'known-to-nobody-else';

const names = ['ann', 'ben', 'cleo', 'dora'] as const;
export const addresses = names.map((name) => `${name}@shop.example`);
/** Those of the same contacts; the last has none of its own. */
export const externalIDs = names.map((name) => `customer-${name}`);
/** Browsers whose userUUID the attacker has found out: of these, the first are linked, and the last is anonymous. */
export const knownUsers = [...names.map((name) => `known-browser-of-${name}`), 'known-browser-of-nobody'];
/** Browsers of whom the attacker knows nothing. */
const unknownUsers = [...names.map((name) => `other-browser-of-${name}`), 'other-browser-of-nobody'];

const catalogues = ['profile', 'tag', 'attr', 'event'] as const;
/** What the account has listed itself in each catalogue; a few are left to be registered. */
const listed = limits.idsPerCatalogue - 5;
const idOf = (kind: string, nth: number) => (kind === 'event' ? nth + 1 : `${kind}-${nth}`);
/** The first of each is not for browsers. */
const catalogueOf = (kind: (typeof catalogues)[number]) =>
  Array.from({ length: listed }, (_, nth) => ({
    [`${kind}ID`]: idOf(kind, nth),
    [`${kind}Name`]: `Name of ${kind} ${nth}`,
    browser: nth > 0,
  }));

export interface Planted {
  readonly contactUUIDs: readonly string[];
  /** A handle that another browser token was given. */
  readonly otherHandle: string;
  readonly otherToken: string;
  readonly ids: Fields;
  /** In what the account is not any more as it was planted. */
  violations(): Promise<string[]>;
  /** The same, when all that the browser token has claimed is voided: now no event of anybody may have moved. */
  violationsOnceVoided(): Promise<string[]>;
}

const must = ({ status, body }: Answer) => {
  if (status === 200) return body;
  throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
};

const pageLimit = 1_000;

export const plant = async (scene: Scene): Promise<Planted> => {
  const { server } = scene.tokens;
  const post = async (path: string, fields: Fields) => must(await scene.post(path, { tokenUUID: server, ...fields }));
  const get = async (path: string, fields: Fields) => must(await scene.get(path, { tokenUUID: server, ...fields }));

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
    // Cleared and taken away on purpose: that is a verified value as well.
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
  const otherHandle = must(
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
  const aContact = await readContact(contactUUIDs[0] as string, 'claim,link');
  const ids = { accountUUID: scene.accountUUID, tokenID: attacker, linkID: aContact.link[0].linkID };

  /** The planted events; what was logged since stands behind them. */
  const moved = async (mayMove: (userUUID: string) => boolean): Promise<string[]> => {
    const now = await readEvents();
    return before.events.flatMap((event, index) => {
      const { contactUUID, ...rest } = now[index] ?? { contactUUID: 'none' };
      const { contactUUID: owner, ...was } = event;
      if (JSON.stringify(rest) !== JSON.stringify(was)) return `event ${event.eventUUID} is not as it was`;
      if (contactUUID === owner || (owner === '' && mayMove(event.userUUID))) return [];
      return `event ${event.eventUUID} of ${event.userUUID} moved from ${owner} to ${contactUUID}`;
    });
  };

  type ContactAnswer = (typeof before.contacts)[number]['contact'];
  const isSet = (contact: ContactAnswer, name: string) =>
    contact[name] !== '' || name === 'contactTitle' || name === 'contactStatus';
  const changedContacts = async (): Promise<string[]> => {
    const found: string[] = [];
    for (const [nth, contactUUID] of contactUUIDs.entries()) {
      const was = before.contacts[nth]?.contact as ContactAnswer;
      if (was.contactExternalID !== '') {
        const { contactExternalID } = was;
        const named = await get('/contact/getContact', { contactExternalID });
        if (named.contact.contactUUID !== contactUUID) found.push(`${contactExternalID} names another contact`);
      }
      const { contact } = await readContact(contactUUID);
      for (const [name, value] of Object.entries(was)) {
        if (typeof value !== 'string' || !isSet(was, name)) continue;
        if (contact[name] !== value) found.push(`${name} of ${contactUUID} is ${contact[name]}, was ${value}`);
      }
      const optOf = (of: ContactAnswer, id: string) =>
        of.tag.find(({ tagID }: { tagID: string }) => tagID === id)?.opt === true;
      if (!optOf(contact, 'tag-1') || optOf(contact, 'tag-2')) found.push(`the tags of ${contactUUID} changed`);
      const attributeOf = (id: string) =>
        contact.contactAttr.find(({ attrID }: { attrID: string }) => attrID === id)?.attrValue;
      if (attributeOf('attr-1') !== secret || attributeOf('attr-2') !== undefined) {
        found.push(`the attributes of ${contactUUID} changed`);
      }
    }
    return found;
  };

  const changedAccount = async (): Promise<string[]> => {
    const now = await readAccount();
    const found: string[] = [];
    for (const kind of catalogues) {
      if (now[kind].length > limits.idsPerCatalogue) found.push(`${kind} lists ${now[kind].length}`);
      const entries = new Set(now[kind].map((entry: object) => JSON.stringify(entry)));
      const lost = before.account[kind].filter((entry: object) => !entries.has(JSON.stringify(entry))).length;
      if (lost > 0) found.push(`${lost} entries of ${kind} changed`);
    }
    for (const name of ['accountName', 'accountOrigin', 'accountTimezone', 'accountCurrency', 'strict', 'token']) {
      if (JSON.stringify(now[name]) !== JSON.stringify(before.account[name])) found.push(`${name} changed`);
    }
    return found;
  };

  return {
    contactUUIDs,
    otherHandle,
    otherToken,
    ids,
    violations: async () => [
      ...(await changedContacts()),
      ...(await changedAccount()),
      // Who knows a browser's userUUID speaks for that browser: its anonymous events follow what it says of itself.
      ...(await moved((userUUID) => userUUID === knownUsers.at(-1))),
    ],
    async violationsOnceVoided() {
      const to = new Date(Date.now() + 60_000).toISOString();
      await post('/contact/voidLink', { tokenID: attacker, from: '2020-01-01T00:00:00Z', to });
      return moved(() => false);
    },
  };
};
