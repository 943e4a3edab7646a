// What somebody with the browser token, or one who knows a userUUID, could take of others' events.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { browserToken, makeAccount, startServed, stopServed, withoutLimits } from '../tools/served.ts';
import { changeServer } from '../tools/weakened.ts';
import { countingClaimsAfterLinks, mixingKindsOfTokens } from '../weaknesses/store.ts';
import { createBooks } from './tools/books.ts';

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
  const server = await makeAccount(path);
  const served = await startServed(path, await freePort(), { main, env });
  const books = createBooks();
  const ask = async (token: string, ...[operation, fields]: [Parameters<typeof books.ask>[1], object]) => {
    const { status, body } = await books.ask(served.url, operation, { tokenUUID: token, ...fields });
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  };
  /** How many of the visitors' events are kept with their own contact as the owner. */
  const countOwned = async (contactUUIDs: readonly string[]) => {
    let owned = 0;
    for (const contactUUID of contactUUIDs) owned += (await ask(server, 'getEvent', { contactUUID })).event.length;
    return owned;
  };
  return { server, ask, countOwned, stop: () => stopServed(served) };
};

/** Claims one address for each visitor whom the server knows. */
const displace = async (name: string, count: number, main?: string) => {
  const { server, ask, countOwned, stop } = await serve(name, main);
  const contactUUIDs: string[] = [];
  const mallory = { contactEmailaddress: 'mallory@example.com' };
  for (let visitor = 0; visitor < count; visitor += 1) {
    const userUUID = userUUIDOf(visitor);
    const known = { userUUID, ...addressOf(visitor) };
    contactUUIDs.push((await ask(server, 'createContact', known)).contactUUID);
    await ask(browserToken, 'createContact', { userUUID, contactProfileID, ...mallory });
    await ask(server, 'logEvent', { userUUID, eventID: 1 });
  }
  const { event: exported } = await ask(server, 'exportContact', mallory);
  await ask(server, 'eraseContact', mallory);
  const owned = await countOwned(contactUUIDs);
  await stop();
  return { exported: exported.length, owned };
};

/** Sends each event of the server from a page first. */
const shadow = async (name: string, count: number, main?: string) => {
  const { server, ask, countOwned, stop } = await serve(name, main);
  const contactUUIDs: string[] = [];
  let duplicates = 0;
  for (let visitor = 0; visitor < count; visitor += 1) {
    const sent = { userUUID: userUUIDOf(visitor), eventUUID: eventUUIDOf(visitor) };
    const known = { userUUID: `other-${userUUIDOf(visitor)}`, ...addressOf(visitor) };
    const { contactUUID } = await ask(server, 'createContact', known);
    contactUUIDs.push(contactUUID);
    await ask(browserToken, 'logEvent', { ...sent, eventID: 1 });
    if ((await ask(server, 'logEvent', { ...sent, contactUUID, eventID: 2 })).duplicate) duplicates += 1;
  }
  const owned = await countOwned(contactUUIDs);
  await stop();
  return { duplicates, owned };
};

test('a claim takes no event of a visitor whom the server knows', async (context) => {
  expect(await displace('claims', visitors)).toEqual({ exported: 0, owned: visitors });
  const weakened = await displace(
    'weakened-claims',
    10,
    changeServer(folder, 'claims-decide', countingClaimsAfterLinks),
  );
  expect(weakened).toEqual({ exported: 10, owned: 0 });
  report(context, {
    fault: 'displaced links',
    count: `one address claimed for ${visitors} visitors whom the server had linked, exported and erased`,
    result: `none of their ${visitors} later events in its export; all kept, each with its own contact`,
    weakened: `claims decide after verified links: ${weakened.exported} of 10 events exported, and gone with the erasure`,
  });
});

test('an event that a page sends first takes nothing of the server’s', async (context) => {
  // The page's event is the visitor's as well, by the link that came with the server's.
  expect(await shadow('events', visitors)).toEqual({ duplicates: 0, owned: 2 * visitors });
  const weakened = await shadow('weakened-events', 10, changeServer(folder, 'kinds-together', mixingKindsOfTokens));
  expect(weakened).toEqual({ duplicates: 10, owned: 0 });
  report(context, {
    fault: 'shadowed eventUUIDs',
    count: `${visitors} eventUUIDs of the server's, each sent from a page first`,
    result: 'every event of the server kept, with its link',
    weakened: `kinds of tokens not told apart: ${weakened.duplicates} of 10 dropped as duplicates`,
  });
});
