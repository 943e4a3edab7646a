/** Runs the examples of the client's README against a server. */
import { readFileSync } from 'node:fs';
import { createClient, FirsthandError } from '@firsthand/client';
import { beforeAll, describe, expect, it } from 'vitest';
import * as examples from './fixtures/documents/client-examples.ts';
import { listClaims, listMissing } from './fixtures/documents/readme-claims.ts';
import { createAccount, serveHere, userUUID } from './fixtures/serving.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

describe('the client’s README', () => {
  let readme: string;
  beforeAll(() => {
    readme = read('../../client/README.md');
  });

  it('shows exactly the examples that are compiled and run', () => {
    const readmeExamples = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code.trimEnd());
    const source = read('fixtures/documents/client-examples.ts');
    const regions = [...source.matchAll(/^( *)\/\/ #region .*\n([\s\S]*?)^ *\/\/ #endregion$/gm)];
    const compiledExamples = regions.map(([, indent = '', code = '']) =>
      code.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trimEnd(),
    );
    expect(readmeExamples).toEqual(compiledExamples);
  });

  it('lists a test for each of its claims', () => {
    expect(listClaims(readme).filter(({ isTested }) => !isTested)).toEqual([]);
    expect(listMissing(readme)).toEqual([]);
  });
});

it('runs the examples of its README against a server', async () => {
  const { url } = await serveHere();
  const { serverTokenUUID } = await createAccount(url);
  const client = examples.connect(url, serverTokenUUID);
  const event = [{ eventID: 9, eventName: 'Shop closed' }];
  await client.updateAccount({ event });

  const placed = new Date(Date.now() - 3_600_000);
  const order = { number: '1042', userUUID, product: 'Stone teapot', placed };
  expect([await examples.logOrder(client, order), await examples.logOrder(client, order)]).toEqual([false, true]);
  expect(await examples.readHours(url, serverTokenUUID, userUUID)).toEqual([placed.getUTCHours()]);

  const [ann, bob] = ['ann@shop.example', 'bob@shop.example'] as const;
  const contactProfileID = 'customer';
  const { contactUUID } = await client.createContact({ userUUID, contactEmailaddress: ann, contactProfileID });
  await client.createContact({ userUUID: `${userUUID}-2`, contactEmailaddress: bob, contactProfileID });
  expect(await examples.moveContact(client, contactUUID, bob)).toBe('Another contact has this address.');
  expect(await examples.moveContact(client, contactUUID, 'nobody')).toMatch(/^Please check contactEmailaddress: /);
  expect(await examples.moveContact(client, contactUUID, 'ann@home.example')).toBe('');

  await client.logEvents({
    userUUID,
    event: Array.from({ length: 120 }, (_, nth) => ({
      eventID: 3,
      eventTime: placed,
      eventAttrArray: [{ attrID: 'product', attrValue: nth }],
    })),
  });
  const products = await examples.readProducts(client, contactUUID);
  expect(products).toHaveLength(121);
  expect(new Set(products).size).toBe(121);

  const leaving = new AbortController();
  expect(await examples.readWithTimeout(client, leaving)).toBe(10);
  leaving.abort(new Error('gone'));
  await expect(examples.readWithTimeout(client, leaving)).rejects.toThrow('gone');

  await client.logEvent({ userUUID, eventID: 9 });
  const handled: string[] = [];
  const cursor = await examples.follow(client, Buffer.from('e1.0').toString('base64url'), (name) => handled.push(name));
  expect([handled.length, handled.at(-1), cursor === '']).toEqual([122, 'Shop closed', false]);
});

it('distinguishes a rejection by the service from an unreachable service', async () => {
  const { url } = await serveHere();
  const unauthorized = createClient({ url, token: 'server_thereisnosuchtokenhere' }).getAccount({});
  await expect(unauthorized).rejects.toMatchObject({ code: 'invalid_token', status: 401, field: 'tokenUUID' });
  const unreachable = createClient({ url: 'http://127.0.0.1:9', token: 'x', retries: 0 }).getAccount({});
  await expect(unreachable).rejects.toThrow(FirsthandError);
});
