// Tests reading a contact's or user's newest events page by page on a cluster.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import type { EventQuery, Store } from '../../src/store/store.ts';
import { newDatabase } from '../fixtures/postgres/databases.ts';
import { createSite, type Site } from '../fixtures/site.ts';

let databaseURL: string;
let store: Store;
let site: Site;
beforeAll(async () => {
  databaseURL = await newDatabase();
  store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
});
afterAll(() => store.close());
beforeEach(async () => {
  site = await createSite(store);
});

const newest = (query: Partial<EventQuery>) =>
  store.getEvents({ account: site.account, order: 'desc', limit: 100, ...query });
const namesOf = async (query: Partial<EventQuery>) => (await newest(query)).events.map(({ eventUUID }) => eventUUID);

/** Creates a contact with a user. Both have events. */
const createPerson = async (name: string) => {
  const userUUID = `user-of-${name}`;
  const { contactUUID } = await site.server.createContact({ userUUID, address: `${name}@example.com` });
  await site.server.log(
    { eventUUID: `${name}-first`, userUUID },
    { eventUUID: `${name}-direct`, userUUID, contactUUID },
    { eventUUID: `${name}-last`, userUUID },
  );
  return { userUUID, contactUUID };
};

test('returns the same owners and reasons in descending order as in ascending order', async () => {
  const people = [await createPerson('ada'), await createPerson('bob'), await createPerson('cyd')];
  const [ada, bob, cyd] = people.map(({ contactUUID }) => contactUUID) as [string, string, string];
  const { contactUUID: claimID } = await site.browser.createContact({
    userUUID: 'user-of-a-claim',
    address: 'ada@example.com',
    newHandle: 'handle-of-a-claim',
  });
  await site.server.log({ eventUUID: 'claimed', userUUID: 'user-of-a-claim' });
  await site.unlink('user-of-bob');
  await site.server.log({ eventUUID: 'of-nobody', userUUID: 'user-of-bob' });
  await site.link('user-of-bob', cyd);
  await site.server.log({ eventUUID: 'of-another', userUUID: 'user-of-bob', contactUUID: ada });
  await site.merge(cyd, bob);
  const queries = [
    ...[ada, bob, cyd].map((contactUUID) => ({ contactUUID })),
    ...['ada', 'bob', 'cyd', 'a-claim', 'nobody'].map((name) => ({ userUUID: `user-of-${name}` })),
    { contactUUID: cyd, userUUID: 'user-of-bob' },
    { contactUUID: cyd, userUUID: 'user-of-ada' },
  ];
  const compare = async () => {
    for (const query of queries) {
      const inOrder = await site.events(query);
      expect((await newest(query)).events).toEqual(inOrder.toReversed());
      expect(await site.events({ order: 'desc', limit: 1, ...query })).toEqual(inOrder.toReversed());
    }
  };
  await compare();
  expect((await newest({ userUUID: 'user-of-a-claim' })).events).toMatchObject([{ why: { claimID } }]);
  for (const change of [site.acceptClaim, site.voidClaim, site.restoreClaim]) {
    await change(claimID);
    await compare();
  }
  await site.erase(ada);
  queries.shift();
  await compare();
});

test.each(['"quoted"', '\\', 'NULL', '{a,b}', '%1$s', "it's $1", 'é \u{1f642}', ' '])(
  'finds events by the external ID %j',
  async (externalID) => {
    const { contactUUID } = await site.server.createContact({
      externalID,
      address: undefined,
      userUUID: 'user-of-an-id',
    });
    await site.server.log({ eventUUID: 'of-an-id', contactUUID, userUUID: 'user-of-an-id' });
    expect(await namesOf({ externalID })).toEqual(['of-an-id']);
  },
);

test('refuses unknown and erased contacts', async () => {
  const { contactUUID } = await createPerson('ada');
  await expect(newest({ contactUUID: 'no-such-contact' })).rejects.toMatchObject({ code: 'unknown_contact' });
  await expect(newest({ externalID: 'no-such-id' })).rejects.toMatchObject({ field: 'contactExternalID' });
  await site.erase(contactUUID);
  await expect(newest({ contactUUID })).rejects.toMatchObject({ code: 'erased_contact' });
  expect(await namesOf({ userUUID: 'no-such-user' })).toEqual([]);
  const missing = { account: 1_000_000, contactUUID };
  await expect(newest(missing)).rejects.toMatchObject({ code: 'unknown_contact' });
});
