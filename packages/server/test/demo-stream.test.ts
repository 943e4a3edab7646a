import { request } from 'node:http';
import { createClient } from '@firsthand/client';
import { describe, expect, it } from 'vitest';
import type { BrowserData } from '../src/demo/browser-data.ts';
import { temporaryDatabase } from './fixtures/command.ts';
import { createAccount, serveHere, userUUID } from './fixtures/serving.ts';

/** The labels that the server derives from the User-Agent below. */
const labels = [
  ['$browser', 'Firefox'],
  ['$os', 'Linux'],
  ['$device', 'desktop'],
];

const setUp = async (env: Readonly<Record<string, string>> = {}) => {
  const { url, demo, close } = await serveHere(env, { demo: true });
  if (!demo) throw new Error('there is no demo');
  // Sends a browser's user agent, because a program's user agent would be marked as a bot.
  const asBrowser: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    request.headers.set('user-agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0');
    return fetch(request);
  };
  return { url, close, browser: createClient({ url, token: demo.browserToken, fetch: asBrowser }), demo };
};

const requestStream = (url: string, headers: Record<string, string>) =>
  new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    // Does not use fetch, which overrides the Host header.
    request(`${url}/demo/stream`, { headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
        if (response.statusCode === 200) response.destroy();
      });
      response.on('close', () => resolve({ status: response.statusCode, text }));
    })
      .on('error', reject)
      .end();
  });

/** Yields the messages that a browser's panel receives. */
async function* follow(url: string, cookie: string): AsyncGenerator<BrowserData> {
  const response = await fetch(`${url}/demo/stream`, { headers: { cookie: `other=1; userUUID=${cookie}` } });
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk);
    const messages = text.split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) if (message.startsWith('data: ')) yield JSON.parse(message.slice(6));
  }
}

const next = async (panel: AsyncGenerator<BrowserData>): Promise<BrowserData> => {
  const { value } = await panel.next();
  if (!value) throw new Error('the stream has ended');
  return value;
};

it('moves anonymous events to the contact as soon as the browser identifies itself', async () => {
  const { url, browser } = await setUp();
  const panel = follow(url, userUUID);
  expect(await next(panel)).toEqual({ userUUID, events: [], hasMore: false, people: [] });

  await browser.logEvent({ eventID: 2, userUUID, eventAttrArray: [{ attrID: 'product', attrValue: 'Stone teapot' }] });
  const anonymous = await next(panel);
  expect(anonymous).toMatchObject({
    events: [{ eventName: 'Product viewed', attributes: [['product', 'Stone teapot'], ...labels], contactUUID: '' }],
    people: [],
  });

  await browser.createContact({
    userUUID,
    contactEmailaddress: 'ann@shop.example',
    contactFirstname: 'Ann',
    contactProfileID: 'customer',
  });
  const owned = await next(panel);
  const [person] = owned.people;
  expect(person).toMatchObject({ name: 'Ann', address: 'ann@shop.example' });
  expect(owned.events).toMatchObject([
    { eventUUID: anonymous.events[0]?.eventUUID, contactUUID: person?.contactUUID, loggedAnonymously: true },
  ]);
  await panel.return(undefined);
});

it('shows neither events of other browsers nor their claims about the same contact', async () => {
  const { url, browser } = await setUp();
  const other = 'another-browser-of-a-test';
  for (const [user, name] of [
    [other, 'Somebody Else'],
    [userUUID, 'Ann'],
  ] as const) {
    await browser.logEvent({ eventID: 1, userUUID: user });
    const contact = { contactEmailaddress: 'ann@shop.example', contactProfileID: 'customer' };
    await browser.createContact({ userUUID: user, contactFirstname: name, ...contact });
  }
  const panel = follow(url, userUUID);
  const { events, people } = await next(panel);
  expect(events).toHaveLength(1);
  expect(people.map(({ name }) => name)).toEqual(['Ann']);
  await panel.return(undefined);
});

it('ends the stream when the server stops', async () => {
  const { url, close } = await setUp();
  const panel = follow(url, userUUID);
  await next(panel);
  const closed = close();
  expect((await panel.next()).done).toBe(true);
  expect(await closed).toBe(0);
});

describe('the stream', () => {
  it.each([
    ['rejects a foreign Host header', { host: 'evil.example' }, 403],
    ['rejects a request that a proxy has forwarded', { 'x-forwarded-for': '192.0.2.1' }, 403],
    ['rejects a request without the cookie', { cookie: 'other=1' }, 400],
    ['rejects a cookie that is not a userUUID', { cookie: 'userUUID=short' }, 400],
  ])('%s', async (_, headers, status) => {
    const { url } = await setUp();
    const response = await requestStream(url, { cookie: `userUUID=${userUUID}`, ...headers });
    expect(response.status).toBe(status);
    expect(response.text).not.toContain('data:');
  });

  it('rejects a twenty-first connection until another connection is closed', async () => {
    const { url } = await setUp();
    const panels = Array.from({ length: 20 }, () => follow(url, userUUID));
    await Promise.all(panels.map(next));
    const readStatus = () => requestStream(url, { cookie: `userUUID=${userUUID}` }).then(({ status }) => status);
    expect(await readStatus()).toBe(503);
    await Promise.all(panels.map((panel) => panel.return(undefined)));
    await expect.poll(readStatus).toBe(200);
  });
});

describe('the page', () => {
  it('runs only its own scripts, and contains no server token', async () => {
    const { url, demo } = await setUp({ BASE_PATH: '/base' });
    const response = await fetch(url);
    expect(response.url).toBe(`${url}/demo/`);
    const page = await response.text();
    const nonce = /script-src 'nonce-([\w-]{20,})'/.exec(response.headers.get('content-security-policy') ?? '')?.[1];
    expect(nonce).toBeDefined();
    expect(page.match(/<script[^>]*>/g)?.every((tag) => tag.includes(`nonce="${nonce}"`))).toBe(true);
    expect(page).toContain(`data-token="${demo.browserToken}"`);
    expect(page).not.toMatch(/server_[\w-]{10}/);
    expect(page).not.toMatch(/\{\w+\}(?=")/);
    const again = await (await fetch(url)).text();
    expect(again).not.toContain(nonce);
  });

  it('uses the same account after a restart, and prints its server token only once', async () => {
    const { env } = temporaryDatabase();
    const first = await setUp(env);
    expect(first.demo.serverToken).toMatch(/^server_/);
    await first.close();
    const second = await setUp(env);
    expect(second.demo).toMatchObject({ browserToken: first.demo.browserToken, serverToken: undefined });
  });

  it('is not served if the database has real accounts', async () => {
    const { env } = temporaryDatabase();
    const first = await serveHere(env);
    await createAccount(first.url);
    await first.close();
    const second = await serveHere(env, { demo: true });
    expect(second.demo).toBeUndefined();
    expect((await fetch(`${second.url}/demo/`)).status).toBe(404);
  });
});
