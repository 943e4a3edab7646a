import { createClient } from '@firsthand/client';
import { expect, it } from 'vitest';
import { firsthandJSON } from '../fixtures/command.ts';
import { createAccount, shareServer } from '../fixtures/serving.ts';

const shared = shareServer();
const hour = 3_600_000;

it('removes names that only one sender used, but keeps their events', async () => {
  const { url } = shared;
  const { serverTokenUUID, browserTokenUUID } = await createAccount(url);
  const page = createClient({ url, token: browserTokenUUID });
  const server = createClient({ url, token: serverTokenUUID });
  const begin = Date.now() - 4 * 24 * hour;
  let sent = 0;
  const log = (client: typeof page, eventName: string, user: string, hours: number) => {
    const eventTime = new Date(begin + hours * hour).toISOString();
    sent += 1;
    return client.logEvent({ eventName, userUUID: `visitor-of-${user}-0123`, eventTime });
  };
  await log(page, 'of one user', 'ann', 0);
  await log(page, 'of one user', 'ann', 30);
  await log(page, 'of one hour', 'ann', 1);
  await log(page, 'of one hour', 'ben', 1.5);
  await log(page, 'of two', 'ann', 0);
  await log(page, 'of two', 'ben', 2);
  await log(page, 'young', 'ann', 90);
  await log(server, 'of the server', 'ann', 0);
  const { account } = await server.getAccount({});
  const names = async () => (await server.getAccount({})).account.event.map(({ eventName }) => eventName);
  const pruned = account.event
    .filter(({ eventName }) => /^of one/.test(eventName))
    .map(({ eventID, eventName }) => ({ eventID, eventName, count: 2 }));
  const env = { PORT: new URL(url).port, FIRSTHAND_TOKEN: serverTokenUUID };
  expect(await firsthandJSON(['event', 'prune', '--dry-run'], env)).toEqual({ pruned, dryRun: true });
  expect(await names()).toHaveLength(5);
  expect(await firsthandJSON(['event', 'prune'], env)).toEqual({ pruned, dryRun: false });
  expect((await names()).toSorted()).toEqual(['of the server', 'of two', 'young']);
  expect((await server.getEvent({})).event).toHaveLength(sent);
});

it('keeps names whose events are erased, and entries into which others are merged', async () => {
  const { url } = shared;
  const { serverTokenUUID, browserTokenUUID } = await createAccount(url);
  const page = createClient({ url, token: browserTokenUUID });
  const server = createClient({ url, token: serverTokenUUID });
  const log = (eventName: string, days: number, userUUID = 'visitor-of-ben-0123') =>
    page.logEvent({ eventName, userUUID, eventTime: new Date(Date.now() - days * 24 * hour).toISOString() });
  const userUUID = 'visitor-of-ann-0123';
  await log('erased', 3, userUUID);
  await log('erased', 2, userUUID);
  const { contactUUID } = await server.createContact({
    userUUID,
    contactProfileID: 'customer',
    contactEmailaddress: 'ann@example.com',
  });
  await server.eraseContact({ contactUUID });
  for (const name of ['kept', 'other', 'alone']) await log(name, 3);
  const { account } = await server.getAccount({});
  const idOf = (name: string) => account.event.find(({ eventName }) => eventName === name)?.eventID;
  await server.mergeEntry({ catalogue: 'event', entryID: `${idOf('kept')}`, otherEntryID: `${idOf('other')}` });
  const env = { PORT: new URL(url).port, FIRSTHAND_TOKEN: serverTokenUUID };
  expect(await firsthandJSON(['event', 'prune'], env)).toMatchObject({ pruned: [{ eventName: 'alone' }] });
});
