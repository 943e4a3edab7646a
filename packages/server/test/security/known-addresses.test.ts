// A page must not learn from createContact whether an address or an external ID is known: whoever's userUUID and whichever of them it
// sends, the answers are the bytes that it would get for one that nobody has.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openScene, type Scene } from '../fixtures/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

const asServer = async (path: string, fields: Record<string, unknown>): Promise<Record<string, string>> => {
  const { status, body } = await scene.post(`/contact/${path}`, {
    tokenUUID: scene.tokens.server,
    contactProfileID: 'b2b',
    ...fields,
  });
  expect(status).toBe(200);
  return body;
};
/** The field of an address, or of an external ID. */
const fieldOf = (asked: string) =>
  asked.includes('@') ? { contactEmailaddress: asked } : { contactExternalID: asked };
const asPage = (userUUID: string, asked: string) =>
  scene.app.request('/contact/createContact', {
    method: 'POST',
    body: JSON.stringify({
      tokenUUID: scene.tokens.browser,
      userUUID,
      ...fieldOf(asked),
      contactProfileID: 'customer',
    }),
    headers: { 'Content-Type': 'text/plain', Origin: 'https://shop.example' },
  });

interface People {
  readonly userUUID: string;
  /** An address that this user has given from the page before. */
  readonly own: string;
  /** The address, or the external ID, that is asked about. */
  readonly asked: string;
  readonly otherUser: string;
}

/** What the site may know of the address that is asked about. */
const situations: Record<string, (people: People) => unknown> = {
  'it is a contact’s': ({ asked, otherUser }) =>
    asServer('createContact', { userUUID: otherUser, contactEmailaddress: asked, contactFirstname: 'Ann' }),
  'another user claimed it': ({ asked, otherUser }) => asPage(otherUser, asked),
  'the contact that the user is linked to has changed to it': async ({ userUUID, own, asked }) => {
    const { contactUUID } = await asServer('createContact', { userUUID, contactEmailaddress: own });
    await asServer('updateContact', { contactUUID, contactEmailaddress: asked });
    // That the own address is nobody's any more is what this user may see of it.
    await asServer('createContact', { userUUID: `${userUUID}-heir`, contactEmailaddress: own });
  },
  'the site’s server said that the user has it': ({ userUUID, asked }) =>
    asServer('createContact', { userUUID, contactEmailaddress: asked }),
  'the site’s server linked the user to it': async ({ userUUID, asked, otherUser }) => {
    const { contactUUID } = await asServer('createContact', { userUUID: otherUser, contactEmailaddress: asked });
    await asServer('linkUser', { userUUID, contactUUID });
  },
  'it is merged into the contact that the user is linked to': async ({ own, asked, otherUser }) => {
    const other = await asServer('createContact', { userUUID: otherUser, contactEmailaddress: asked });
    const mine = await asServer('createContact', { userUUID: `${otherUser}-2`, contactEmailaddress: own });
    await asServer('mergeContact', { contactUUID: mine.contactUUID, otherContactUUID: other.contactUUID });
  },
  'its contact was erased': async ({ asked, otherUser }) => {
    const { contactUUID } = await asServer('createContact', { userUUID: otherUser, contactEmailaddress: asked });
    await asServer('eraseContact', { contactUUID });
  },
};

/** The same of an external ID. */
const situationsOfIDs: Record<string, (people: People) => unknown> = {
  'it is a contact’s': ({ asked }) => asServer('createContact', { contactExternalID: asked, contactFirstname: 'Ann' }),
  'another user claimed it': ({ asked, otherUser }) => asPage(otherUser, asked),
  'it is that of the contact with the address that the user gave': ({ own, asked }) =>
    asServer('createContact', { contactExternalID: asked, contactEmailaddress: own }),
  'the contact that the user is linked to got it': async ({ userUUID, own, asked }) => {
    const { contactUUID } = await asServer('createContact', { userUUID, contactEmailaddress: own });
    await asServer('updateContact', { contactUUID, contactExternalID: asked });
  },
  'the site’s server said that the user has it': ({ userUUID, asked }) =>
    asServer('createContact', { userUUID, contactExternalID: asked }),
  'a contact gave it up to one that the site’s server knows': async ({ asked, otherUser }) => {
    await asPage(otherUser, asked);
    await asServer('createContact', { userUUID: otherUser, contactEmailaddress: `${asked}@shop.example` });
    await asServer('createContact', { contactExternalID: asked, contactEmailaddress: `${asked}@shop.example` });
  },
  'it is merged into the contact that the user is linked to': async ({ own, asked, otherUser }) => {
    await asServer('createContact', { contactExternalID: asked });
    await asServer('createContact', { userUUID: otherUser, contactEmailaddress: own });
    await asServer('mergeContact', { contactEmailaddress: own, otherContactExternalID: asked });
  },
  'its contact was erased': async ({ asked }) => {
    await asServer('createContact', { contactExternalID: asked });
    await asServer('eraseContact', { contactExternalID: asked });
  },
};

let made = 0;
const newPeople = (asked: (nth: number) => string): People => {
  made += 1;
  const userUUID = `somebodys-browser-${made}`;
  return {
    userUUID,
    own: `own-${made}@shop.example`,
    asked: asked(made),
    otherUser: `another-browser-${made}`,
  };
};

/** All that a page sees of its questions, between some of which it asks about keys that nobody has: each new handle is named by the order in which it came. */
const ask = async ({ userUUID, asked }: People, handles: string[]): Promise<unknown[]> => {
  const seen: unknown[] = [];
  for (const question of [asked, asked, `other-${userUUID}@shop.example`, asked, `other-${userUUID}`, asked, asked]) {
    const response = await asPage(userUUID, question);
    const text = await response.text();
    const handle = JSON.parse(text).contactUUID as string;
    if (!handles.includes(handle)) handles.push(handle);
    const headers = [...response.headers].filter(([name]) => name !== 'x-request-id');
    seen.push([response.status, headers, text.replace(handle, `handle ${handles.indexOf(handle)}`)]);
    const shown = await scene.get('/contact/getContact', { tokenUUID: scene.tokens.browser, contactUUID: handle });
    const { createdTime: _, updatedTime: __, ...contact } = shown.body.contact;
    expect(contact).toMatchObject({ contactUUID: handle, ...fieldOf(question), contactFirstname: '' });
  }
  return seen;
};

const address = (nth: number) => `asked-${nth}@shop.example`;
const externalID = (nth: number) => `asked-${nth}`;
const answersTo = async (situation: (people: People) => unknown, asked: (nth: number) => string) => {
  const people = newPeople(asked);
  const first = JSON.parse(await (await asPage(people.userUUID, people.own)).text());
  await situation(people);
  return ask(people, [first.contactUUID]);
};

test.each(Object.entries(situations))('a page is answered as for an unknown address when %s', async (_, situation) => {
  expect(await answersTo(situation, address)).toEqual(await answersTo(() => {}, address));
});

test.each(Object.entries(situationsOfIDs))(
  'a page is answered as for an unknown external ID when %s',
  async (_, situation) => {
    expect(await answersTo(situation, externalID)).toEqual(await answersTo(() => {}, externalID));
  },
);

test('a page is answered the same whether or not the site’s server confirms an address that the user gave', async () => {
  const own = (nth: number) => `own-${nth}@shop.example`;
  const confirm = ({ userUUID, asked }: People) =>
    asServer('createContact', { userUUID, contactEmailaddress: asked, contactExternalID: `${userUUID}-id` });
  expect(await answersTo(confirm, own)).toEqual(await answersTo(() => {}, own));
});
