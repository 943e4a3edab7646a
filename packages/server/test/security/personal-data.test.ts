/**
 * Tests that a browser token reads no personal data. Calls every path with every method and every kind of token,
 * identifies the person in every possible way, and searches the responses and their headers for the person's data.
 */
import { randomBytes } from 'node:crypto';
import { type OperationName, operations } from '@firsthand/contract/operations';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { z } from 'zod';
import type { Store } from '../../src/store/store.ts';
import { type Fields, toStrings } from '../fixtures/scene.ts';
import { report } from '../tools/report.ts';
import { localConnection, openService, operationPaths, readText, type Service } from './tools/service.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
type Method = (typeof methods)[number];

/** Returns unique text. */
const mark = (name: string) => `${name}${randomBytes(8).toString('hex')}`;

const address = `${mark('ada')}@example.com`;
const contactFields = {
  contactTitle: mark('Countess'),
  contactFirstname: mark('Augusta'),
  contactLastname: mark('Lovelace'),
  contactTelephone: mark('0207'),
  contactMobile: mark('0777'),
  contactJobRole: mark('Analyst'),
};
const attributeValue = mark('birthday');
const eventValue = mark('basket');
const anonymousValue = mark('looked');
const claimedValue = mark('said');

/** Required fields of operations, so that requests are not refused before the operation looks for the person. */
const needed: Fields = {
  contactProfileID: 'customer',
  eventID: 41,
  event: [{ eventID: 41 }],
  from: '2026-01-01',
  tokenKind: 'browser',
  accountName: 'Shop',
};

interface Victim {
  readonly contactUUID: string;
  readonly userUUID: string;
  readonly handle: string;
  readonly names: Fields;
  /** Data that only the account's owner is allowed to read. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Creates a person with every kind of data: fields, attributes, a claim, and events before and after the claim. */
const createVictim = async ({ post, get, tokens }: Service): Promise<Victim> => {
  const userUUID = mark('victim_');
  const { browser, server } = tokens;
  const log = (tokenUUID: string, eventID: number, attrValue: string, subject: Fields) =>
    post('/logEvent', { tokenUUID, eventID, eventAttrArray: [{ attrID: 'what', attrValue }], ...subject });
  await log(browser, 41, anonymousValue, { userUUID });
  const claimResponse = await post('/createContact', {
    tokenUUID: browser,
    userUUID,
    contactEmailaddress: address,
    contactProfileID: 'customer',
    contactAttr: [{ attrID: 'note', attrValue: claimedValue }],
  });
  const contactResponse = await post('/createContact', {
    tokenUUID: server,
    userUUID,
    contactEmailaddress: address,
    contactProfileID: 'customer',
    contactTagID: 'vip',
    contactAttr: [{ attrID: 'birthday', attrValue: attributeValue }],
    ...contactFields,
  });
  const { contactUUID } = contactResponse.body;
  const handle = claimResponse.body.contactUUID as string;
  await log(server, 42, eventValue, { contactUUID });
  const readResponse = await get('/contact/getContact', { tokenUUID: server, contactUUID, include: 'claim,link' });
  return {
    contactUUID,
    userUUID,
    handle,
    names: {
      ...needed,
      contactUUID,
      contactEmailaddress: address,
      userUUID,
      otherContactUUID: contactUUID,
      claimID: handle,
      linkID: readResponse.body.link[0].linkID,
    },
    secrets: { ...contactFields, address, attributeValue, eventValue, anonymousValue, claimedValue, contactUUID },
  };
};

type Place = 'query' | 'body' | 'form' | 'header';
const places: readonly Place[] = ['query', 'body', 'form', 'header'];

/** Returns a request with its fields and token in the given place; `body` is used only if the method allows one. */
const requestOf = (
  path: string,
  { method, place, token, fields }: { method: Method; place: Place; token: string | undefined; fields: Fields },
): [string, RequestInit] => {
  const all = token === undefined || place === 'header' ? fields : { tokenUUID: token, ...fields };
  const headers: Record<string, string> = {
    Cookie: `userUUID=${attacker}`,
    ...(token !== undefined && place === 'header' && { Authorization: `Bearer ${token}` }),
  };
  const query = new URLSearchParams(toStrings(all));
  if (method === 'GET' || method === 'HEAD') return [`${path}?${query}`, { method, headers }];
  if (place === 'query') return [`${path}?${query}`, { method, headers }];
  return [path, { method, headers, body: place === 'form' ? query : JSON.stringify(all) }];
};
const attacker = 'attacker_0123456789';

/** Returns everything that a response shows: its headers and body. */
const readVisibleText = async (response: Response, silenceMilliseconds?: number) =>
  [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n') +
  (await readText(response, silenceMilliseconds));

const findSecrets = (text: string, secrets: Victim['secrets']) => {
  const folded = text.toLowerCase();
  return Object.keys(secrets).filter((name) => folded.includes((secrets[name] as string).toLowerCase()));
};

/** The position before the oldest event, where a page or a stream begins. */
const start = { cursor: Buffer.from('e1.0').toString('base64url') };
const fromBeginning = { ...start, order: 'asc' };

/** Returns the ways in which a request can identify the victim. */
const listIdentifications = ({ names, userUUID }: Victim): Fields[] => {
  const { contactUUID, contactEmailaddress, ...ids } = names;
  return [
    names,
    { ...ids, contactEmailaddress },
    { contactUUID, include: 'claim,link' },
    { userUUID, ...fromBeginning },
    fromBeginning,
    { text: contactFields.contactLastname },
    { eventID: 42, attrID: 'what', attrValue: eventValue, include: 'definition,why' },
    {},
  ];
};

/** Selects only the fields that the operation supports, because any other field in a read causes a 400. */
const selectFields = (name: OperationName, fields: Fields): Fields => {
  const { shape } = operations[name].input as z.ZodObject;
  return Object.fromEntries(Object.entries(fields).filter(([field]) => field in shape));
};

const placesOf = (method: Method): readonly Place[] =>
  method === 'GET' || method === 'HEAD' ? ['query', 'header'] : places;

/** Sends every request with a token. Returns the victim's data that responses contained, and the number of requests. */
const sendAll = async (service: Service, victim: Victim, token: string | undefined) => {
  const revealed: string[] = [];
  let requestCount = 0;
  const operationOf = new Map<string, OperationName>(operationPaths.map(({ path, name }) => [path, name]));
  for (const path of service.paths) {
    const name = operationOf.get(path);
    const ways =
      name === undefined
        ? [victim.names]
        : listIdentifications(victim).flatMap((fields) => [fields, selectFields(name, fields)]);
    for (const method of methods) {
      const requests = placesOf(method).flatMap((place) =>
        ways.map((fields) => requestOf(path, { method, place, token, fields })),
      );
      requestCount += requests.length;
      const visibleTexts = requests.map(async ([target, init]) =>
        readVisibleText(await service.app.request(target, init, localConnection)),
      );
      for (const visibleText of await Promise.all(visibleTexts)) {
        for (const secret of findSecrets(visibleText, victim.secrets))
          revealed.push(`${name ?? path} by ${method}: ${secret}`);
      }
    }
  }
  return { revealed: [...new Set(revealed)], requestCount };
};

let service: Service;
let victim: Victim;
/** Tokens that must not read anything, by description. */
let tokens: Readonly<Record<string, string | undefined>>;

beforeAll(async () => {
  service = await openService();
  victim = await createVictim(service);
  const { post } = service;
  const { server, operator, browser, revoked } = service.tokens;
  const other = await post('/account/createAccount', { tokenUUID: operator, accountName: 'Another shop' });
  const old = await post('/account/createToken', { tokenUUID: server, tokenKind: 'browser' });
  await post('/account/revokeToken', { tokenUUID: server, tokenID: old.body.tokenID });
  tokens = {
    'no token': undefined,
    'a browser token of the account': browser,
    'a browser token of another account': other.body.browserTokenUUID,
    'a browser token that was revoked': old.body.tokenUUID,
    'a server token that was revoked': revoked,
  };
});
afterAll(() => service.close());

const kindsOfToken = [
  'no token',
  'a browser token of the account',
  'a browser token of another account',
  'a browser token that was revoked',
  'a server token that was revoked',
];
/** The results for each kind of token. */
const outcomes: Awaited<ReturnType<typeof sendAll>>[] = [];

test.each(kindsOfToken)('reveals nothing about a person on any path, with any method, with %s', async (kind) => {
  const outcome = await sendAll(service, victim, tokens[kind]);
  outcomes.push(outcome);
  const { revealed, requestCount } = outcome;
  expect(revealed).toEqual([]);
  // Checks that each operation was called in each of its encodings, and the other paths too.
  expect(requestCount).toBeGreaterThan(operationPaths.length * methods.length * 3 * listIdentifications(victim).length);
  expect(service.logged()).not.toContain('"level":50');
});

describe('a browser that claims to be the victim', () => {
  const claim = async (userUUID: string, tokenUUID: string) => {
    const fields = { userUUID, contactEmailaddress: address, contactProfileID: 'customer' };
    const { body } = await service.post('/createContact', { tokenUUID, ...fields });
    return body as { exists: boolean; contactUUID: string };
  };

  it('reads back only what it sent itself', async () => {
    const tokenUUID = service.tokens.browser;
    const { exists, contactUUID } = await claim(attacker, tokenUUID);
    expect(exists).toBe(false);
    expect(contactUUID).not.toBe(victim.handle);
    const { headers, body } = await service.get('/contact/getContact', { tokenUUID, contactUUID });
    const visibleText = JSON.stringify([...headers]) + JSON.stringify(body);
    expect(findSecrets(visibleText, victim.secrets)).toEqual(['address']);
  });

  it('reads nothing with a handle from another token', async () => {
    const tokenUUID = tokens['a browser token of another account'] as string;
    const { status } = await service.get('/contact/getContact', { tokenUUID, contactUUID: victim.handle });
    expect(status).toBe(404);
  });

  it('reads only what the victim’s browser sent, even with that browser’s handle', async () => {
    const tokenUUID = service.tokens.browser;
    const { body } = await service.get('/contact/getContact', { tokenUUID, contactUUID: victim.handle });
    expect(findSecrets(JSON.stringify(body), victim.secrets)).toEqual(['address', 'claimedValue']);
  });
});

describe('this search for personal data', () => {
  const server = () => ({ tokenUUID: service.tokens.server });

  it('finds all of the person’s data with a server token', async () => {
    const { contactUUID } = victim;
    const visibleTexts: string[] = [];
    for (const [path, fields] of [
      ['/contact/getContact', { contactUUID, include: 'claim,link' }],
      ['/contact/searchContact', { contactEmailaddress: address }],
      ['/event/getEvent', { contactUUID }],
      ['/event/streamEvents', { contactUUID, ...start }],
    ] as const) {
      const query = new URLSearchParams(toStrings({ ...server(), ...fields }));
      visibleTexts.push(await readVisibleText(await service.app.request(`${path}?${query}`), 5_000));
    }
    const exported = await service.post('/contact/exportContact', { ...server(), contactUUID });
    const [contact, search, events, stream] = visibleTexts.map((visibleText) =>
      findSecrets(visibleText, victim.secrets),
    );
    const all = Object.keys(victim.secrets);
    const eventSecrets = ['eventValue', 'anonymousValue'];
    expect(contact).toEqual(all.filter((name) => !eventSecrets.includes(name)));
    expect(search).toEqual([...Object.keys(contactFields), 'address', 'attributeValue', 'claimedValue', 'contactUUID']);
    expect(events).toEqual([...eventSecrets, 'contactUUID']);
    expect(stream).toEqual(events);
    expect(findSecrets(JSON.stringify(exported.body), victim.secrets)).toEqual(all);
  });

  it('detects a server that treats browser tokens as server tokens', async (context) => {
    const promoteBrowserTokens = (store: Store): Store => ({
      ...store,
      findAccess: async (hash) => {
        const access = await store.findAccess(hash);
        return access?.kind === 'browser' ? { ...access, kind: 'server' } : access;
      },
    });
    const weakened = await openService({ wrap: promoteBrowserTokens });
    const person = await createVictim(weakened);
    const { revealed } = await sendAll(weakened, person, weakened.tokens.browser);
    await weakened.close();
    const places = new Set(revealed.map((each) => each.split(' ')[0]));
    for (const name of ['getContact', 'searchContact', 'exportContact', 'createContact'] as const) {
      expect(places).toContain(name);
    }
    if (outcomes.length < kindsOfToken.length) return;
    const valuesIn = (list: readonly string[]) => new Set(list.map((each) => each.split(': ')[1])).size;
    const valueCount = Object.keys(victim.secrets).length;
    report(context, {
      fault: 'personal data',
      count: `${outcomes.reduce((sum, { requestCount }) => sum + requestCount, 0)} requests: ${service.paths.length} paths, ${methods.length} methods, ${outcomes.length} kinds of tokens`,
      result: `${valuesIn(outcomes.flatMap((each) => each.revealed))} of the ${valueCount} values stored about a person in any response or its headers`,
      weakened: `treats browser tokens as server tokens: ${valuesIn(revealed)} of ${valueCount} revealed, by ${places.size} operations`,
    });
  });
});
