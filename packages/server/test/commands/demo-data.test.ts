import { createClient } from '@firsthand/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { firsthand, firsthandJSON, temporaryDatabase } from '../fixtures/command.ts';
import { shareServer } from '../fixtures/serving.ts';

/** A tenth of the default. At any time of day, this still includes some buyers from the campaign. */
const events = 4_000;

describe('demo-data with a running server', () => {
  const shared = shareServer();
  let client: ReturnType<typeof createClient>;
  let filled: { accountUUID: string; events: number; contacts: number };
  beforeAll(async () => {
    const created = await firsthandJSON(['demo-data', '--events', String(events)], shared.env);
    filled = created;
    client = createClient({ url: shared.url, token: created.serverTokenUUID });
  });

  const day = 86_400_000;
  const range = () => ({ from: Date.now() - 31 * day, to: Date.now() });
  const personNamed = async (text: string) => {
    const { contact } = await client.searchContact({ text });
    expect(contact).toHaveLength(1);
    return contact[0] as (typeof contact)[number];
  };
  const eventsOf = async (contactUUID: string) => (await client.getEvent({ contactUUID, limit: 1_000 })).event;
  const devicesOf = (some: Awaited<ReturnType<typeof eventsOf>>) =>
    new Set(some.map(({ eventAttrArray }) => eventAttrArray.find(({ attrID }) => attrID === '$os')?.attrValue));

  it('fills an account whose name indicates that it contains sample data', async () => {
    const { account } = await client.getAccount({});
    expect(account).toMatchObject({ accountUUID: filled.accountUUID, accountName: 'Sample shop (demo data)' });
    expect(account.usage).toMatchObject({ events: filled.events, contacts: filled.contacts });
    expect(filled.events).toBe(events);
    expect((await client.listSegments({})).segment).toHaveLength(6);
  });

  it('has one campaign that attracts buyers, and one that attracts none', async () => {
    const step = [{ event: 'Page viewed' }, { event: 'Purchased' }];
    const { row = [] } = await client.reportFunnel({ ...range(), step, by: 'attr:utm_campaign' });
    const boughtBy = (campaign: string) => row.find(({ values }) => values[0] === campaign)?.step[1]?.reached;
    expect(boughtBy('tea-letter')).toBeGreaterThan(2);
    expect(boughtBy('pretty-pictures')).toBe(0);
    const { total } = await client.reportTotals({ ...range(), eventName: 'Purchased', attrID: 'amount' });
    expect(total.value?.sum).toBeGreaterThan(100);
    expect((await client.reportLive({})).people).toBeGreaterThan(0);
  });

  it('gives Ada two phones, one of which is her brother’s until its link is voided', async () => {
    const ada = await personNamed('Ada Lovelace');
    const before = await eventsOf(ada.contactUUID);
    expect(devicesOf(before)).toEqual(new Set(['Linux', 'iOS', 'Android']));
    const isHis = ({ eventAttrArray }: (typeof before)[number]) =>
      eventAttrArray.some(({ attrID, attrValue }) => attrID === '$country' && attrValue === 'PT');
    const his = before.filter(isHis);
    const [{ eventUUID = '', userUUID = '' } = {}] = his;
    const { event } = await client.getEvent({ userUUID, include: ['why'] });
    expect(event.find((each) => each.eventUUID === eventUUID)?.why).toMatchObject({ rule: 'linked', verified: true });

    const { link = [] } = await client.getContact({ contactUUID: ada.contactUUID, include: ['link'] });
    expect(link).toHaveLength(3);
    const { linkID = '' } = link.find((each) => each.userUUID === userUUID) ?? {};
    await client.voidLink({ linkID });
    expect(devicesOf(await eventsOf(ada.contactUUID))).toEqual(new Set(['Linux', 'iOS']));
    const noel = await personNamed('Noel Byron');
    expect((await eventsOf(noel.contactUUID)).map((each) => each.eventUUID)).toEqual(his.map((each) => each.eventUUID));
  });

  it('has two people who are merged by mistake, until they are unmerged', async () => {
    const merged = await personNamed('Johnson');
    expect(merged.contactFirstname).toBe('Katherine');
    await client.unmergeContact({ otherContactEmailaddress: 'kathryn.johnson@example.net' });
    const other = await personNamed('Kathryn Johnson');
    expect(other.contactUUID).not.toBe(merged.contactUUID);
    expect(devicesOf(await eventsOf(other.contactUUID))).toEqual(new Set(['Android']));
  });

  it('has refused requests', async () => {
    const { refused } = await firsthandJSON(['refused', 'list', '--account', filled.accountUUID], shared.env);
    expect(refused).toHaveLength(events / 1_000);
  });

  it('is created only once', async () => {
    const { code, stderr } = await firsthand(['demo-data'], shared.env);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^firsthand: the sample shop already exists, as the account sample-shop-[\w-]+: [^\n]+\n$/);
  });

  it('is removed completely, without removing anything else', async () => {
    const other = await firsthandJSON(['account', 'create', '--name', 'Shop'], shared.env);
    expect(await firsthandJSON(['demo-data', '--remove'], shared.env)).toEqual({
      accountUUID: filled.accountUUID,
      deletedEvents: events,
    });
    const accounts = await firsthandJSON(['account', 'list'], shared.env);
    expect(accounts).toMatchObject([{ accountUUID: other.accountUUID }]);
    await expect(client.getAccount({})).rejects.toMatchObject({ code: 'invalid_token' });
    const audit = await firsthandJSON(['audit', 'list'], shared.env);
    expect(audit[0]).toMatchObject({ action: 'deleteAccount', subject: { accountUUID: filled.accountUUID } });
    expect(JSON.stringify(audit.slice(1))).not.toContain(filled.accountUUID);

    const { code, stderr } = await firsthand(['demo-data', '--remove'], shared.env);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^firsthand: there is no sample shop: only an account created by firsthand demo-data can be removed\n$/,
    );
  });
});

it('works without a server, and reports what it created', async () => {
  const { env } = temporaryDatabase();
  const { code, stdout, stderr } = await firsthand(['demo-data', '--events', String(events), '--seed', '5'], env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^The account "Sample shop \(demo data\)" contains a month of a small shop's data: 4,000 events\.\n/,
  );
  expect(stdout).toMatch(
    /\nServer token +server_\S+ {2}\(secret; shown only once\)\n\nUse the server token to sign in to the console[^\n]+\n$/,
  );
  expect(await firsthand(['demo-data', '--seed', 'x'], env)).toMatchObject({ code: 2 });
});
