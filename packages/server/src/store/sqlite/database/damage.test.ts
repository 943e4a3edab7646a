// Tests damage that leaves the database well-formed, so that SQLite does not report it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSite, type Site } from '../../../../test/fixtures/site.ts';
import { openStore } from '../../open.ts';
import { createReadEngine } from '../engine.ts';
import { createSequencer } from '../transactions/sequencer.ts';
import { openConnection } from './connection.ts';
import { examineDatabase } from './doctor.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-damage-'));
  path = join(folder, 'firsthand.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (role: 'server' | 'command' = 'server') =>
  openStore({
    databaseURL: `sqlite:${path}`,
    role,
    create: true,
    onFatal(error) {
      throw error;
    },
  });

/** Creates the database, without a server's threads, and returns a query for all its events. */
const create = async (fill: (site: Site) => Promise<unknown>) => {
  const store = await open('command');
  const site = await createSite(store);
  await fill(site);
  await store.close();
  return { account: site.account, order: 'asc', limit: 10 } as const;
};
const damage = (sql: string) => {
  const db = openConnection(path, 'write');
  db.exec(sql);
  db.close();
};
const read = async (request: Awaited<ReturnType<typeof create>>) => {
  const db = openConnection(path, 'read');
  try {
    return await createReadEngine(db)({ name: 'getEvents', request });
  } finally {
    db.close();
  }
};

test('makes doctor report changed events, and makes reading them fail', async () => {
  const all = await create(({ server }) => server.log({ eventUUID: 'event-as-sent' }));
  const events = async () => (await examineDatabase(path)).find(({ name }) => name === 'events');
  expect(await events()).toMatchObject({ ok: true });
  damage("UPDATE event_block SET events = replace(events, 'event-as-sent', 'event-as-lent')");
  expect(await events()).toMatchObject({ ok: false, detail: expect.stringMatching(/^1 /) });
  await expect(read(all)).rejects.toThrow('are damaged');
  // Starts a server, which succeeds, but its reads fail in the same way.
  const store = await open();
  await expect(store.getEvents(all)).rejects.toThrow('are damaged');
  await store.close();
});

test.each([
  ['user', { userUUID: 'somebody-as-sent' }],
  ['contact', { contactUUID: 'somebody-as-sent' }],
] as const)('makes reads fail if a %s is not the one that was stored', async (table, event) => {
  const all = await create(async ({ server }) => {
    if (table === 'contact') await server.createContact({ newContactUUID: 'somebody-as-sent' });
    await server.log(event);
  });
  const good = readFileSync(path);
  // Changes the text both in the row and in its index.
  const places = [...good.toString('latin1').matchAll(/somebody-as-sent/g)].map(({ index }) => index);
  expect(places.length).toBeGreaterThanOrEqual(2);
  for (const place of places) {
    writeFileSync(path, Buffer.from(good).fill('somebody-as-lent', place, place + 'somebody-as-lent'.length));
    await expect(read(all)).rejects.toThrow(`the row of ${table} 1 is damaged`);
  }
});

test.each(['sequence = sequence - 1', 'packed = sequence + 1', 'indexed = sequence'])(
  'prevents serving a database with an inconsistent position: %s',
  async (change) => {
    await create(({ server }) => server.log({}));
    damage(`UPDATE position SET ${change}`);
    const db = openConnection(path, 'write');
    expect(() => createSequencer(db)).toThrow('its position is damaged');
    db.close();
    await expect(open()).rejects.toThrow('its position is damaged');
  },
);
