// Tests that a page cannot learn from createContact whether an e-mail address or external ID is known. No matter what
// the page sends, it gets the same bytes as for an unknown key.
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
/** The field for an address or an external ID. */
const fieldOf = (key: string) => (key.includes('@') ? { contactEmailaddress: key } : { contactExternalID: key });
const asPage = (userUUID: string, key: string) =>
  scene.app.request('/contact/createContact', {
    method: 'POST',
    body: JSON.stringify({
      tokenUUID: scene.tokens.browser,
      userUUID,
      ...fieldOf(key),
      contactProfileID: 'customer',
    }),
    headers: { 'Content-Type': 'text/plain', Origin: 'https://shop.example' },
  });

interface People {
  readonly userUUID: string;
  /** An address that this user has already sent from the page. */
  readonly own: string;
  /** The address or external ID that the page tests. */
  readonly key: string;
  readonly otherUser: string;
}

/** Ways in which the site might already know the address that a page sends. */
const situations: Record<string, (people: People) => unknown> = {
  'a contact has it': ({ key, otherUser }) =>
    asServer('createContact', { userUUID: otherUser, contactEmailaddress: key, contactFirstname: 'Ann' }),
  'another user claimed it': ({ key, otherUser }) => asPage(otherUser, key),
  'the user’s contact has changed its address to it': async ({ userUUID, own, key }) => {
    const { contactUUID } = await asServer('createContact', { userUUID, contactEmailaddress: own });
    await asServer('updateContact', { contactUUID, contactEmailaddress: key });
    // Gives the address to another contact. The user is allowed to see that it was free in between.
    await asServer('createContact', { userUUID: `${userUUID}-heir`, contactEmailaddress: own });
  },
  'the site’s server gave it for the user': ({ userUUID, key }) =>
    asServer('createContact', { userUUID, contactEmailaddress: key }),
  'the site’s server linked the user to its contact': async ({ userUUID, key, otherUser }) => {
    const { contactUUID } = await asServer('createContact', { userUUID: otherUser, contactEmailaddress: key });
    await asServer('linkUser', { userUUID, contactUUID });
  },
  'its contact is merged into the user’s contact': async ({ own, key, otherUser }) => {
    const other = await asServer('createContact', { userUUID: otherUser, contactEmailaddress: key });
    const mine = await asServer('createContact', { userUUID: `${otherUser}-2`, contactEmailaddress: own });
    await asServer('mergeContact', { contactUUID: mine.contactUUID, otherContactUUID: other.contactUUID });
  },
  'its contact was erased': async ({ key, otherUser }) => {
    const { contactUUID } = await asServer('createContact', { userUUID: otherUser, contactEmailaddress: key });
    await asServer('eraseContact', { contactUUID });
  },
};

/** The same situations for an external ID. */
const situationsOfIDs: Record<string, (people: People) => unknown> = {
  'a contact has it': ({ key }) => asServer('createContact', { contactExternalID: key, contactFirstname: 'Ann' }),
  'another user claimed it': ({ key, otherUser }) => asPage(otherUser, key),
  'it belongs to the contact with the address that the user sent': ({ own, key }) =>
    asServer('createContact', { contactExternalID: key, contactEmailaddress: own }),
  'it was added to the user’s contact': async ({ userUUID, own, key }) => {
    const { contactUUID } = await asServer('createContact', { userUUID, contactEmailaddress: own });
    await asServer('updateContact', { contactUUID, contactExternalID: key });
  },
  'the site’s server gave it for the user': ({ userUUID, key }) =>
    asServer('createContact', { userUUID, contactExternalID: key }),
  'it moved from a claimed contact to a contact that the site’s server created': async ({ key, otherUser }) => {
    await asPage(otherUser, key);
    await asServer('createContact', { userUUID: otherUser, contactEmailaddress: `${key}@shop.example` });
    await asServer('createContact', { contactExternalID: key, contactEmailaddress: `${key}@shop.example` });
  },
  'its contact is merged into the user’s contact': async ({ own, key, otherUser }) => {
    await asServer('createContact', { contactExternalID: key });
    await asServer('createContact', { userUUID: otherUser, contactEmailaddress: own });
    await asServer('mergeContact', { contactEmailaddress: own, otherContactExternalID: key });
  },
  'its contact was erased': async ({ key }) => {
    await asServer('createContact', { contactExternalID: key });
    await asServer('eraseContact', { contactExternalID: key });
  },
};

let peopleCount = 0;
const newPeople = (key: (nth: number) => string): People => {
  peopleCount += 1;
  const userUUID = `somebodys-browser-${peopleCount}`;
  return {
    userUUID,
    own: `own-${peopleCount}@shop.example`,
    key: key(peopleCount),
    otherUser: `another-browser-${peopleCount}`,
  };
};

/**
 * Returns everything that a page sees when it tests a key repeatedly, with unknown keys in between. Handles are
 * replaced by their order of first appearance.
 */
const ask = async ({ userUUID, key }: People, handles: string[]): Promise<unknown[]> => {
  const responses: unknown[] = [];
  for (const question of [key, key, `other-${userUUID}@shop.example`, key, `other-${userUUID}`, key, key]) {
    const response = await asPage(userUUID, question);
    const text = await response.text();
    const handle = JSON.parse(text).contactUUID as string;
    if (!handles.includes(handle)) handles.push(handle);
    const headers = [...response.headers].filter(([name]) => name !== 'x-request-id');
    responses.push([response.status, headers, text.replace(handle, `handle ${handles.indexOf(handle)}`)]);
    const contactResponse = await scene.get('/contact/getContact', {
      tokenUUID: scene.tokens.browser,
      contactUUID: handle,
    });
    const { createdTime: _, updatedTime: __, ...contact } = contactResponse.body.contact;
    expect(contact).toMatchObject({ contactUUID: handle, ...fieldOf(question), contactFirstname: '' });
  }
  return responses;
};

const address = (nth: number) => `asked-${nth}@shop.example`;
const externalID = (nth: number) => `asked-${nth}`;
const answersTo = async (situation: (people: People) => unknown, key: (nth: number) => string) => {
  const people = newPeople(key);
  const first = JSON.parse(await (await asPage(people.userUUID, people.own)).text());
  await situation(people);
  return ask(people, [first.contactUUID]);
};

test.each(Object.entries(situations))(
  'gives a page the response for an unknown address when %s',
  async (_, situation) => {
    expect(await answersTo(situation, address)).toEqual(await answersTo(() => {}, address));
  },
);

test.each(Object.entries(situationsOfIDs))(
  'gives a page the response for an unknown external ID when %s',
  async (_, situation) => {
    expect(await answersTo(situation, externalID)).toEqual(await answersTo(() => {}, externalID));
  },
);

test('gives a page the same response whether or not the site’s server confirmed the user’s address', async () => {
  const own = (nth: number) => `own-${nth}@shop.example`;
  const confirm = ({ userUUID, key }: People) =>
    asServer('createContact', { userUUID, contactEmailaddress: key, contactExternalID: `${userUUID}-id` });
  expect(await answersTo(confirm, own)).toEqual(await answersTo(() => {}, own));
});
