// Tests which of other people's events an attacker could take with the browser token or a known userUUID.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import {
  browserToken,
  createTestAccount,
  startServerProcess,
  stopServerProcess,
  withoutLimits,
} from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { lettingClaimsOverrideLinks, mixingKindsOfTokens } from '../weaknesses/store.ts';
import { createResponseCounter } from './tools/response-counter.ts';

const visitors = times({ quick: 10, full: 1_000 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-hijacks-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const env = {
  RATE_LIMIT: withoutLimits(),
};

const userUUIDOf = (visitor: number) => `visitor-${String(visitor).padStart(8, '0')}`;
const contactProfileID = 'customer';
const addressOf = (visitor: number) => ({ contactEmailaddress: `visitor-${visitor}@example.com`, contactProfileID });
const eventUUIDOf = (visitor: number) => `order-${String(visitor).padStart(8, '0')}`;

const serve = async (name: string, main: string | undefined) => {
  const path = join(folder, `${name}.db`);
  const server = await createTestAccount(path);
  const served = await startServerProcess(path, await freePort(), { main, env });
  const counter = createResponseCounter();
  const call = async (token: string, ...[operation, fields]: [Parameters<typeof counter.call>[1], object]) => {
    const { status, body } = await counter.call(served.url, operation, { tokenUUID: token, ...fields });
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  };
  /** Returns the number of stored events whose owner is the visitor's own contact. */
  const countOwned = async (contactUUIDs: readonly string[]) => {
    let owned = 0;
    for (const contactUUID of contactUUIDs) owned += (await call(server, 'getEvent', { contactUUID })).event.length;
    return owned;
  };
  return { server, call, countOwned, stop: () => stopServerProcess(served) };
};

/** Claims one address for each visitor whom the server has linked to a contact. */
const claimForAll = async (name: string, count: number, main?: string) => {
  const { server, call, countOwned, stop } = await serve(name, main);
  const contactUUIDs: string[] = [];
  const mallory = { contactEmailaddress: 'mallory@example.com' };
  for (let visitor = 0; visitor < count; visitor += 1) {
    const userUUID = userUUIDOf(visitor);
    const contact = { userUUID, ...addressOf(visitor) };
    contactUUIDs.push((await call(server, 'createContact', contact)).contactUUID);
    await call(browserToken, 'createContact', { userUUID, contactProfileID, ...mallory });
    await call(server, 'logEvent', { userUUID, eventID: 1 });
  }
  const { event: exported } = await call(server, 'exportContact', mallory);
  await call(server, 'eraseContact', mallory);
  const owned = await countOwned(contactUUIDs);
  await stop();
  return { exported: exported.length, owned };
};

/** Sends each eventUUID from a page before the server sends it. */
const sendPageFirst = async (name: string, count: number, main?: string) => {
  const { server, call, countOwned, stop } = await serve(name, main);
  const contactUUIDs: string[] = [];
  let duplicates = 0;
  for (let visitor = 0; visitor < count; visitor += 1) {
    const sent = { userUUID: userUUIDOf(visitor), eventUUID: eventUUIDOf(visitor) };
    const contact = { userUUID: `other-${userUUIDOf(visitor)}`, ...addressOf(visitor) };
    const { contactUUID } = await call(server, 'createContact', contact);
    contactUUIDs.push(contactUUID);
    await call(browserToken, 'logEvent', { ...sent, eventID: 1 });
    if ((await call(server, 'logEvent', { ...sent, contactUUID, eventID: 2 })).duplicate) duplicates += 1;
  }
  const owned = await countOwned(contactUUIDs);
  await stop();
  return { duplicates, owned };
};

test('assigns no events to a claim if the server has linked the visitor', async (context) => {
  expect(await claimForAll('claims', visitors)).toEqual({ exported: 0, owned: visitors });
  const weakened = await claimForAll(
    'weakened-claims',
    10,
    changeServer(folder, 'claims-decide', lettingClaimsOverrideLinks),
  );
  expect(weakened).toEqual({ exported: 10, owned: 0 });
  report(context, {
    fault: 'displaced links',
    count: `one address claimed for ${visitors} visitors whom the server had linked, exported and erased`,
    result: `none of their ${visitors} later events exported; all stored, each with its own contact`,
    weakened: `claims override verified links: ${weakened.exported} of 10 events exported, and erased`,
  });
});

test('stores a server’s event even if a page sent its eventUUID first', async (context) => {
  // The page's event belongs to the visitor too, because of the link that the server's event created.
  expect(await sendPageFirst('events', visitors)).toEqual({ duplicates: 0, owned: 2 * visitors });
  const weakened = await sendPageFirst(
    'weakened-events',
    10,
    changeServer(folder, 'kinds-together', mixingKindsOfTokens),
  );
  expect(weakened).toEqual({ duplicates: 10, owned: 0 });
  report(context, {
    fault: 'shadowed eventUUIDs',
    count: `${visitors} eventUUIDs of the server, each sent from a page first`,
    result: 'every event of the server stored, with its link',
    weakened: `does not distinguish kinds of tokens: ${weakened.duplicates} of 10 dropped as duplicates`,
  });
});
