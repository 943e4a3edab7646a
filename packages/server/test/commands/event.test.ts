import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createClient } from '@firsthand/client';
import { expect, it } from 'vitest';
import { firsthand, firsthandJSON } from '../fixtures/command.ts';
import { createAccount, shareServer } from '../fixtures/serving.ts';

const userUUID = 'a-browser-of-a-test';

const shared = shareServer({ BASE_PATH: '/base' });

const setUp = async () => {
  const { url } = shared;
  const { serverTokenUUID } = await createAccount(url);
  const { port } = new URL(url);
  // Returns the server's variables, which commands use to find the server.
  return { url, env: { PORT: port, BASE_PATH: '/base/', FIRSTHAND_TOKEN: serverTokenUUID } };
};

const unusedPort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
};

it('shows the same event and contact with event log, event list and contact show', async () => {
  const { env, url } = await setUp();
  const log = ['event', 'log', '--event-id', '7', '--user', userUUID, '--event-uuid', 'first-event'];
  const logged = await firsthandJSON([...log, '--attr', 'page=/a?b=c', '--attr', 'sum=1'], env);
  expect(logged).toEqual({ eventUUID: 'first-event', status: '200' });
  expect(await firsthandJSON(log, env)).toEqual({ eventUUID: 'first-event', duplicate: true, status: '200' });

  const list = () => firsthandJSON(['event', 'list', '--user', userUUID], env);
  const anonymous = await list();
  expect(anonymous.event).toHaveLength(1);
  expect(anonymous.event[0]).toMatchObject({
    eventUUID: 'first-event',
    eventID: 7,
    contactUUID: '',
    eventAttrArray: [
      { attrID: 'page', attrValue: '/a?b=c' },
      { attrID: 'sum', attrValue: '1' },
    ],
  });

  const { contactUUID } = await createClient({ url, token: env.FIRSTHAND_TOKEN }).createContact({
    userUUID,
    contactEmailaddress: 'ann@shop.example',
    contactProfileID: 'customer',
    contactFirstname: 'Ann\u001b[2J',
  });
  expect((await list()).event[0].contactUUID).toBe(contactUUID);
  const byUUID = await firsthandJSON(['contact', 'show', contactUUID], env);
  expect(byUUID.contact).toMatchObject({ contactUUID, contactEmailaddress: 'ann@shop.example' });
  expect(await firsthandJSON(['contact', 'show', 'Ann@Shop.Example'], env)).toEqual(byUUID);

  const text = await firsthand(['contact', 'show', contactUUID], env);
  expect(text.stdout).toMatch(/contactEmailaddress +ann@shop\.example\n/);
  expect(text.stdout, 'a contact’s text can’t move the cursor').not.toContain('\u001b');
  const table = await firsthand(['event', 'list', '--contact', contactUUID], env);
  expect(table.stdout).toMatch(/^TIME +EVENT +USER +CONTACT +ATTRIBUTES\n/);
  expect(table.stdout).toContain('page=/a?b=c sum=1');
});

it('shows a contact and logs and lists its events by external ID', async () => {
  const { env, url } = await setUp();
  const { contactUUID } = await createClient({ url, token: env.FIRSTHAND_TOKEN }).createContact({
    contactExternalID: ' customer-1042 ',
    contactProfileID: 'customer',
  });
  const externalIDFlag = ['--external-id', 'customer-1042'];
  const response = await firsthandJSON(['contact', 'show', ...externalIDFlag], env);
  expect(response.contact).toMatchObject({ contactUUID, contactExternalID: 'customer-1042', contactEmailaddress: '' });
  expect(await firsthandJSON(['event', 'log', '--event-id', '7', ...externalIDFlag], env)).toMatchObject({
    status: '200',
  });
  const { event } = await firsthandJSON(['event', 'list', ...externalIDFlag], env);
  expect(event).toMatchObject([{ eventID: 7, contactUUID, userUUID: '' }]);
  const { code, stderr } = await firsthand(['contact', 'show'], env);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--external-id')]);
  const all = await firsthand(['event', 'list', '--external-id', ''], env);
  expect(all).toMatchObject({ stdout: '', stderr: expect.stringContaining('`contactExternalID` must not be empty') });
});

it('logs and lists an event by name', async () => {
  const { env } = await setUp();
  const log = ['event', 'log', '--name', 'Signed up', '--user', userUUID];
  for (const _ of [1, 2]) expect(await firsthandJSON(log, env)).toMatchObject({ status: '200' });
  await firsthand(['event', 'log', '--event-id', '7', '--user', userUUID], env);
  const { stdout } = await firsthand(['event', 'list', '--name', 'Signed up'], env);
  expect(stdout.match(/ 1000000 Signed up /g)).toHaveLength(2);
  expect(stdout.trim().split('\n')).toHaveLength(3);
  for (const kind of [[], ['--name', 'Signed up', '--event-id', '7']]) {
    const { code, stderr } = await firsthand(['event', 'log', '--user', userUUID, ...kind], env);
    expect([code, stderr]).toEqual([2, expect.stringContaining('either --event-id or --name is required')]);
  }
});

it('prints what was logged, its owner, and how to read the next page', async () => {
  const { env, url } = await setUp();
  const client = createClient({ url, token: env.FIRSTHAND_TOKEN });
  await client.updateAccount({
    event: [{ eventID: 7, eventName: 'Bought' }],
    tag: [{ tagID: 'vip', tagName: 'Important' }],
  });
  const { contactUUID } = await client.createContact({
    userUUID: 'another-browser-00',
    contactEmailaddress: 'ann@shop.example',
    contactProfileID: 'customer',
    contactTagID: 'vip',
    contactAttr: [{ attrID: 'size', attrValue: 'XL' }],
  });
  await client.updateContact({ contactUUID, contactTagID: 'new' });
  const log = ['event', 'log', '--event-id', '7', '--event-uuid', 'first-event', '--contact', contactUUID];
  expect((await firsthand(log, env)).stdout).toBe('first-event was stored\n');
  expect((await firsthand(log, env)).stdout).toBe('first-event was already stored\n');
  await firsthand(['event', 'log', '--event-id', '8', '--user', userUUID, '--attr', 'page=/sale'], env);

  const first = await firsthand(['event', 'list', '--limit', '1'], env);
  expect(first.stdout.split('\n')[1]).toMatch(/^\S+ +8 +a-browser-of-a-test +anonymous +page=\/sale$/);
  const [, cursor = ''] = /^There are more events: --cursor (\S+)\n$/.exec(first.stderr) ?? [];
  const second = await firsthand(['event', 'list', '--cursor', cursor], env);
  expect(second.stdout.split('\n')[1]).toMatch(new RegExp(`^\\S+ +7 Bought +- +${contactUUID}$`));
  expect(second.stderr).toBe('');
  const pageEvents = await firsthandJSON(['event', 'list', '--attr', 'page=/sale'], env);
  expect(pageEvents.event).toMatchObject([{ eventID: 8 }]);

  const { stdout } = await firsthand(['contact', 'show', 'ann@shop.example'], env);
  expect(stdout).toMatch(/^size +XL$/m);
  expect(stdout).toMatch(/^tags +(vip Important, new|new, vip Important)$/m);
  expect(stdout).not.toContain('(claimed)');
  const nobody = await firsthand(['contact', 'show', 'nobody@shop.example'], env);
  expect(nobody).toMatchObject({
    code: 1,
    stderr: 'firsthand: `contactEmailaddress` does not match any contact of this account\n',
  });
});

it('marks values that are only claimed', async () => {
  const { env, url } = await setUp();
  const { account } = await createClient({ url, token: env.FIRSTHAND_TOKEN }).getAccount({});
  const token = account.token?.find(({ tokenKind }) => tokenKind === 'browser')?.tokenUUID as string;
  await createClient({ url, token }).createContact({
    userUUID,
    contactEmailaddress: 'ben@shop.example',
    contactProfileID: 'customer',
    contactFirstname: 'Ben',
  });
  const { stdout } = await firsthand(['contact', 'show', 'ben@shop.example'], env);
  expect(stdout).toMatch(/^contactFirstname +Ben {2}\(claimed\)$/m);
});

it('prints a stack trace with DEBUG', async () => {
  const env = { FIRSTHAND_TOKEN: 'server_abcdefghijklmnopqrstuv', PORT: String(await unusedPort()), DEBUG: '1' };
  const { code, stderr } = await firsthand(['event', 'list'], env);
  expect(code).toBe(1);
  expect(stderr).toMatch(/could not be reached: ECONNREFUSED\nfirsthand: +at /);
});

it('prints a refusal as one line with the field, and exits with 1', async () => {
  const { env } = await setUp();
  const { code, stdout, stderr } = await firsthand(['event', 'log', '--event-id', '0', '--user', userUUID], env);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^firsthand: `eventID` must be [^\n]+\n$/);
  const unknown = await firsthand(['contact', 'show', '-nobody'], { ...env });
  expect({ code: unknown.code, stderr: unknown.stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^firsthand: `contactUUID`[^\n]+\n$/),
  });
});

it('names an unreachable server, but does not print the token', async () => {
  const port = await unusedPort();
  const env = { FIRSTHAND_TOKEN: 'server_abcdefghijklmnopqrstuv', PORT: String(port) };
  const { code, stderr } = await firsthand(['event', 'list'], env);
  expect(code).toBe(1);
  expect(stderr).toBe(`firsthand: http://127.0.0.1:${port} could not be reached: ECONNREFUSED\n`);
});
