import { describe, expect, it } from 'vitest';
import { maxMessageLength, type Sender, toCall } from './messages.ts';

const server: Sender = { fromBrowser: false, hashKey: Buffer.from('an-account'), userIDIsEmailaddress: false };
const browser: Sender = { ...server, fromBrowser: true };
const anonymousId = '507f191e-810c-1972-9de8-60ea00000001';
const messageId = 'node-next-1793525400000-4b5c6d7e-0000-4000-8000-0123456789ab';
const timestamp = '2026-11-01T09:30:00.000Z';
const message = { messageId, anonymousId, timestamp };
const event = { userUUID: anonymousId, eventUUID: messageId, eventTime: timestamp };
const page = { path: '/tea', title: 'Tea', referrer: 'https://news.example/', search: '?utm_source=news&key=secret' };
const pageView = { path: '/tea', title: 'Tea', referrer: 'https://news.example/', utm_source: 'news' };

describe('toCall', () => {
  it.each<[string, object, Sender, object]>([
    [
      'a track message to an event with its properties',
      { type: 'track', event: 'Bought', properties: { price: 9, size: { cm: 4 } } },
      browser,
      { ...event, eventName: 'Bought', eventAttrArray: { price: 9, size: { cm: 4 } } },
    ],
    [
      'a page message to a page view, without its address’s query',
      { type: 'page', name: 'Shop', context: { page: { ...page, url: 'https://shop.example/tea?key=secret' } } },
      browser,
      { ...event, eventName: 'Page viewed', eventAttrArray: { ...pageView, name: 'Shop' } },
    ],
    [
      'the properties of a page message, which take precedence over its context',
      { type: 'page', properties: { ...page, path: '/other', plan: 'pro' }, context: { page } },
      browser,
      { ...event, eventName: 'Page viewed', eventAttrArray: { ...pageView, path: '/other', plan: 'pro' } },
    ],
    [
      'a campaign to the tracker’s parameters',
      { type: 'page', context: { page: { path: '/' }, campaign: { name: 'autumn', source: 'mail', medium: 'email' } } },
      browser,
      {
        ...event,
        eventName: 'Page viewed',
        eventAttrArray: { path: '/', referrer: '', utm_campaign: 'autumn', utm_source: 'mail', utm_medium: 'email' },
      },
    ],
    [
      'a screen message to a page view with the screen’s name',
      { type: 'screen', name: 'Basket', properties: { items: 2 } },
      browser,
      {
        ...event,
        eventName: 'Page viewed',
        eventAttrArray: { path: 'Basket', title: 'Basket', referrer: '', name: 'Basket', items: 2 },
      },
    ],
    [
      'a group message to an event',
      { type: 'group', groupId: 'g-1', traits: { plan: 'pro' } },
      browser,
      { ...event, eventName: 'Group joined', eventAttrArray: { groupId: 'g-1', plan: 'pro' } },
    ],
    [
      'an identify message to a contact that is linked to the browser',
      { type: 'identify', userId: 'u-1', traits: { email: 'ann@shop.example', first_name: 'Ann', age: 41 } },
      server,
      {
        userUUID: anonymousId,
        contactExternalID: 'u-1',
        contactEmailaddress: 'ann@shop.example',
        contactFirstname: 'Ann',
        contactAttr: { age: 41 },
        requestUUID: messageId,
      },
    ],
    [
      'a full name to a first and a last name',
      { type: 'identify', userId: 7, traits: { name: 'Ann de Vries' } },
      server,
      {
        userUUID: anonymousId,
        contactExternalID: '7',
        contactFirstname: 'Ann',
        contactLastname: 'de Vries',
        requestUUID: messageId,
      },
    ],
    [
      'an identify message without a key to an event, so that its traits are stored',
      { type: 'identify', traits: { plan: 'pro' } },
      browser,
      { ...event, eventName: 'Identified', eventAttrArray: { plan: 'pro' } },
    ],
    [
      'an alias message to a contact that is linked to the previous ID',
      { type: 'alias', previousId: anonymousId, userId: 'u-1', anonymousId: undefined },
      server,
      { userUUID: anonymousId, contactExternalID: 'u-1', requestUUID: messageId },
    ],
  ])('maps %s', (_, fields, sender, input) => {
    expect(JSON.parse(JSON.stringify(toCall({ ...message, ...fields }, sender)))).toEqual({
      operation: expect.any(String),
      input,
    });
    expect(toCall({ ...message, ...fields }, sender)).not.toHaveProperty('refusal');
    expect(JSON.stringify(toCall({ ...message, ...fields }, sender))).not.toContain('secret');
  });

  it('treats the userId as an e-mail address if the account’s settings say so', () => {
    const sender = { ...server, userIDIsEmailaddress: true };
    const fields = { ...message, userId: 'ann@shop.example', traits: { email: 'other@shop.example' } };
    for (const [type, extra] of [
      ['identify', {}],
      ['alias', { previousId: anonymousId }],
      ['track', { event: 'Bought' }],
    ] as const) {
      const { input } = toCall({ ...fields, ...extra, type }, sender);
      expect(input).toMatchObject({ contactEmailaddress: 'ann@shop.example' });
      expect(input).not.toHaveProperty('contactExternalID');
    }
    expect(toCall({ ...fields, type: 'track', event: 'Bought', userId: 'u-1' }, sender)).toMatchObject({
      input: { userUUID: anonymousId },
      refusal: { field: 'userId', message: '`userId` must be an e-mail address, as the account’s settings say' },
    });
  });

  it('assigns an event to its contact only with a server token', () => {
    const track = { ...message, type: 'track', event: 'Bought', userId: 'u-1' };
    expect(toCall(track, server).input).toMatchObject({ contactExternalID: 'u-1' });
    expect(toCall(track, browser).input).not.toHaveProperty('contactExternalID');
  });

  it('replaces malformed identifiers with a hash that depends on the account', () => {
    const track = { type: 'track', event: 'Bought', anonymousId: 'ann@shop.example', messageId: 'm 1' };
    const { input } = toCall(track, server);
    expect(input.userUUID).toMatch(/^[\w-]{43}$/);
    expect(input.eventUUID).toMatch(/^[\w-]{43}$/);
    expect(toCall(track, server)).toEqual({ operation: 'logEvent', input });
    expect(toCall(track, { ...server, hashKey: Buffer.from('another') }).input.userUUID).not.toBe(input.userUUID);
  });

  it.each<[string, unknown, string | undefined]>([
    ['a value that is not an object', 'track', 'batch'],
    ['an unknown type', { ...message, type: 'delete' }, 'type'],
    ['no type', message, 'type'],
    ['a track message without an event', { ...message, type: 'track' }, 'event'],
    ['an alias message without a userId', { ...message, type: 'alias', previousId: anonymousId }, 'userId'],
    ['an event without a user', { type: 'track', event: 'Bought' }, 'anonymousId'],
    ['an ID beyond 2^53', { ...message, type: 'track', event: 'Bought', userId: Number.POSITIVE_INFINITY }, 'userId'],
    ['a userId that is not text', { ...message, type: 'identify', userId: 'a\u0000b' }, 'userId'],
  ])('refuses %s, and names the field', (_, given, field) => {
    expect(toCall(given, server)).toMatchObject({ refusal: { field } });
  });
});

it('refuses a message that is too large with its context, before mapping it', () => {
  const huge = { ...message, type: 'page', properties: { text: 'x' } };
  expect(toCall(huge, browser, {}, maxMessageLength)).not.toHaveProperty('refusal');
  const call = toCall(huge, browser, { page: { path: '/' } }, maxMessageLength + 1);
  expect(call).toMatchObject({ refusal: { code: 'invalid_field' }, input: { userUUID: anonymousId } });
  expect(JSON.stringify(call)).not.toContain('"x"');
});

describe('page addresses', () => {
  const view = (page: object) => toCall({ ...message, type: 'page', context: { page } }, browser).input.eventAttrArray;

  it('have no title and no path if the page has none', () => {
    expect(view({ title: '' })).toEqual({ referrer: '' });
  });

  it('contain only the path and the campaign from the URL', () => {
    expect(view({ url: 'https://shop.example/tea?ref=x&token=secret#access_token=secret' })).toEqual({
      path: '/tea',
      ref: 'x',
      referrer: '',
    });
  });

  it.each([
    ['https://shop.example/reset?token=secret', 'https://shop.example/reset'],
    ['https://news.example/a?story=7', 'https://news.example/a?story=7'],
    ['no address', ''],
  ])('have the referrer %s as %s', (referrer, stored) => {
    expect(view({ url: 'https://shop.example/tea', referrer })).toMatchObject({ referrer: stored });
  });
});

it('treats names of prototypes as names', () => {
  const traits = JSON.parse('{"constructor":"a","__proto__":{"name":"Eve"},"plan":"pro"}');
  const { input } = toCall({ ...message, type: 'identify', userId: 'u-1', traits }, server);
  expect(Object.keys(input.contactAttr as object)).toEqual(['constructor', '__proto__', 'plan']);
  expect(input).not.toHaveProperty('contactFirstname');
});

describe('a batch’s context', () => {
  it('is merged into each message, whose values take precedence', () => {
    const context = { page: { path: '/own' } };
    const outer = { page: { path: '/other' }, campaign: { name: 'autumn' } };
    const { input } = toCall({ ...message, type: 'page', context }, browser, outer);
    expect(input.eventAttrArray).toEqual({ path: '/own', referrer: '', utm_campaign: 'autumn' });
  });
});
