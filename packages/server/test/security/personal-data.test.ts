/**
 * A browser token reads no personal data: every path that leads somewhere, by every method, with every kind of token,
 * naming the person in every way there is; answers and their headers are searched for what is held of that person.
 */
import { randomBytes } from 'node:crypto';
import { type OperationName, operations } from '@firsthand/contract/operations';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { z } from 'zod';
import type { Store } from '../../src/store/store.ts';
import { asText, type Fields } from '../fixtures/scene.ts';
import { report } from '../tools/report.ts';
import { fromHere, openService, operationPaths, readText, type Service } from './tools/service.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
type Method = (typeof methods)[number];

/** Text that stands nowhere else. */
const mark = (name: string) => `${name}${randomBytes(8).toString('hex')}`;

const address = `${mark('ada')}@example.com`;
const planted = {
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

/** What operations need besides, so that they are not refused before they have looked. */
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
  /** What nobody but the account's owner may read. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** A person with all that can be held of one: fields, attributes, a claim, events before and after. */
const plant = async ({ post, get, tokens }: Service): Promise<Victim> => {
  const userUUID = mark('victim_');
  const { browser, server } = tokens;
  const log = (tokenUUID: string, eventID: number, attrValue: string, who: Fields) =>
    post('/logEvent', { tokenUUID, eventID, eventAttrArray: [{ attrID: 'what', attrValue }], ...who });
  await log(browser, 41, anonymousValue, { userUUID });
  const said = await post('/createContact', {
    tokenUUID: browser,
    userUUID,
    contactEmailaddress: address,
    contactProfileID: 'customer',
    contactAttr: [{ attrID: 'note', attrValue: claimedValue }],
  });
  const made = await post('/createContact', {
    tokenUUID: server,
    userUUID,
    contactEmailaddress: address,
    contactProfileID: 'customer',
    contactTagID: 'vip',
    contactAttr: [{ attrID: 'birthday', attrValue: attributeValue }],
    ...planted,
  });
  const { contactUUID } = made.body;
  const handle = said.body.contactUUID as string;
  await log(server, 42, eventValue, { contactUUID });
  const shown = await get('/contact/getContact', { tokenUUID: server, contactUUID, include: 'claim,link' });
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
      linkID: shown.body.link[0].linkID,
    },
    secrets: { ...planted, address, attributeValue, eventValue, anonymousValue, claimedValue, contactUUID },
  };
};

type Place = 'query' | 'body' | 'form' | 'header';
const places: readonly Place[] = ['query', 'body', 'form', 'header'];

/** A request with its fields and its token in a place; a body where the method has one. */
const requestOf = (
  path: string,
  { method, place, token, fields }: { method: Method; place: Place; token: string | undefined; fields: Fields },
): [string, RequestInit] => {
  const all = token === undefined || place === 'header' ? fields : { tokenUUID: token, ...fields };
  const headers: Record<string, string> = {
    Cookie: `userUUID=${attacker}`,
    ...(token !== undefined && place === 'header' && { Authorization: `Bearer ${token}` }),
  };
  const query = new URLSearchParams(asText(all));
  if (method === 'GET' || method === 'HEAD') return [`${path}?${query}`, { method, headers }];
  if (place === 'query') return [`${path}?${query}`, { method, headers }];
  return [path, { method, headers, body: place === 'form' ? query : JSON.stringify(all) }];
};
const attacker = 'attacker_0123456789';

/** All of an answer that somebody sees: its headers and its body. */
const sightOf = async (response: Response, silenceMilliseconds?: number) =>
  [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n') +
  (await readText(response, silenceMilliseconds));

const foundIn = (text: string, secrets: Victim['secrets']) => {
  const folded = text.toLowerCase();
  return Object.keys(secrets).filter((name) => folded.includes((secrets[name] as string).toLowerCase()));
};

/** Where the oldest event is, for a page or a stream to begin there. */
const start = { cursor: Buffer.from('e1.0').toString('base64url') };
const beginning = { ...start, order: 'asc' };

/** The ways in which a request may name the victim. */
const namings = ({ names, userUUID }: Victim): Fields[] => {
  const { contactUUID, contactEmailaddress, ...ids } = names;
  return [
    names,
    { ...ids, contactEmailaddress },
    { contactUUID, include: 'claim,link' },
    { userUUID, ...beginning },
    beginning,
    { text: planted.contactLastname },
    { eventID: 42, attrID: 'what', attrValue: eventValue, include: 'definition,why' },
    {},
  ];
};

/** Those that an operation knows: a read that is sent another one answers 400 and nothing else. */
const knownTo = (name: OperationName, fields: Fields): Fields => {
  const { shape } = operations[name].input as z.ZodObject;
  return Object.fromEntries(Object.entries(fields).filter(([field]) => field in shape));
};

const placesOf = (method: Method): readonly Place[] =>
  method === 'GET' || method === 'HEAD' ? ['query', 'header'] : places;

/** Asks all there is to ask with a token; answers what was seen of the victim, and where, and how often was asked. */
const askAll = async (service: Service, victim: Victim, token: string | undefined) => {
  const seen: string[] = [];
  let asked = 0;
  const operationOf = new Map<string, OperationName>(operationPaths.map(({ path, name }) => [path, name]));
  for (const path of service.paths) {
    const name = operationOf.get(path);
    const ways =
      name === undefined ? [victim.names] : namings(victim).flatMap((fields) => [fields, knownTo(name, fields)]);
    for (const method of methods) {
      const requests = placesOf(method).flatMap((place) =>
        ways.map((fields) => requestOf(path, { method, place, token, fields })),
      );
      asked += requests.length;
      const sights = requests.map(async ([target, init]) => sightOf(await service.app.request(target, init, fromHere)));
      for (const sight of await Promise.all(sights)) {
        for (const secret of foundIn(sight, victim.secrets)) seen.push(`${name ?? path} by ${method}: ${secret}`);
      }
    }
  }
  return { seen: [...new Set(seen)], asked };
};

let service: Service;
let victim: Victim;
/** Of browsers: whose, and the token's text. */
let tokens: Readonly<Record<string, string | undefined>>;

beforeAll(async () => {
  service = await openService();
  victim = await plant(service);
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
/** What came of asking with each of them. */
const outcomes: Awaited<ReturnType<typeof askAll>>[] = [];

test.each(kindsOfToken)('%s shows nothing of a person on any path, by any method', async (whose) => {
  const outcome = await askAll(service, victim, tokens[whose]);
  outcomes.push(outcome);
  const { seen, asked } = outcome;
  expect(seen).toEqual([]);
  // Each operation in each way, and whatever else is served.
  expect(asked).toBeGreaterThan(operationPaths.length * methods.length * 3 * namings(victim).length);
  expect(service.logged()).not.toContain('"level":50');
});

describe('a browser that claims to be the victim', () => {
  const claim = async (userUUID: string, tokenUUID: string) => {
    const fields = { userUUID, contactEmailaddress: address, contactProfileID: 'customer' };
    const { body } = await service.post('/createContact', { tokenUUID, ...fields });
    return body as { exists: boolean; contactUUID: string };
  };

  it('reads back what it said itself, and no more', async () => {
    const tokenUUID = service.tokens.browser;
    const { exists, contactUUID } = await claim(attacker, tokenUUID);
    expect(exists).toBe(false);
    expect(contactUUID).not.toBe(victim.handle);
    const { headers, body } = await service.get('/contact/getContact', { tokenUUID, contactUUID });
    const sight = JSON.stringify([...headers]) + JSON.stringify(body);
    expect(foundIn(sight, victim.secrets)).toEqual(['address']);
  });

  it('reads nothing by the handle of another token', async () => {
    const tokenUUID = tokens['a browser token of another account'] as string;
    const { status } = await service.get('/contact/getContact', { tokenUUID, contactUUID: victim.handle });
    expect(status).toBe(404);
  });

  it('even with the handle of the very browser reads only what that has said', async () => {
    const tokenUUID = service.tokens.browser;
    const { body } = await service.get('/contact/getContact', { tokenUUID, contactUUID: victim.handle });
    expect(foundIn(JSON.stringify(body), victim.secrets)).toEqual(['address', 'claimedValue']);
  });
});

describe('the search', () => {
  const server = () => ({ tokenUUID: service.tokens.server });

  it('finds all of it with a server token', async () => {
    const { contactUUID } = victim;
    const sights: string[] = [];
    for (const [path, fields] of [
      ['/contact/getContact', { contactUUID, include: 'claim,link' }],
      ['/contact/searchContact', { contactEmailaddress: address }],
      ['/event/getEvent', { contactUUID }],
      ['/event/streamEvents', { contactUUID, ...start }],
    ] as const) {
      const query = new URLSearchParams(asText({ ...server(), ...fields }));
      sights.push(await sightOf(await service.app.request(`${path}?${query}`), 5_000));
    }
    const exported = await service.post('/contact/exportContact', { ...server(), contactUUID });
    const [contact, search, events, stream] = sights.map((sight) => foundIn(sight, victim.secrets));
    const all = Object.keys(victim.secrets);
    const ofEvents = ['eventValue', 'anonymousValue'];
    expect(contact).toEqual(all.filter((name) => !ofEvents.includes(name)));
    expect(search).toEqual([...Object.keys(planted), 'address', 'attributeValue', 'claimedValue', 'contactUUID']);
    expect(events).toEqual([...ofEvents, 'contactUUID']);
    expect(stream).toEqual(events);
    expect(foundIn(JSON.stringify(exported.body), victim.secrets)).toEqual(all);
  });

  it('finds what a server tells that takes browser tokens for server tokens', async (context) => {
    const mistaken = (store: Store): Store => ({
      ...store,
      findAccess: async (hash) => {
        const access = await store.findAccess(hash);
        return access?.kind === 'browser' ? { ...access, kind: 'server' } : access;
      },
    });
    const weakened = await openService({ wrap: mistaken });
    const person = await plant(weakened);
    const { seen } = await askAll(weakened, person, weakened.tokens.browser);
    await weakened.close();
    const places = new Set(seen.map((each) => each.split(' ')[0]));
    for (const name of ['getContact', 'searchContact', 'exportContact', 'createContact'] as const) {
      expect(places).toContain(name);
    }
    if (outcomes.length < kindsOfToken.length) return;
    const valuesIn = (list: readonly string[]) => new Set(list.map((each) => each.split(': ')[1])).size;
    const held = Object.keys(victim.secrets).length;
    report(context, {
      fault: 'personal data',
      count: `${outcomes.reduce((sum, { asked }) => sum + asked, 0)} requests: ${service.paths.length} paths, ${methods.length} methods, ${outcomes.length} kinds of token`,
      result: `${valuesIn(outcomes.flatMap((each) => each.seen))} of the ${held} values that are held of a person in any answer or its headers`,
      weakened: `takes browser tokens for server tokens: told ${valuesIn(seen)} of ${held}, by ${places.size} operations`,
    });
  });
});
