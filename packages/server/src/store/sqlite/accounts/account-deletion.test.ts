import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../../../test/fixtures/command.ts';
import { createSite } from '../../../../test/fixtures/site.ts';
import { removeSampleShop } from '../../../sample-shop/account.ts';
import { fillSampleShop } from '../../../sample-shop/fill.ts';
import { openStore } from '../../open.ts';
import { openConnection } from '../database/connection.ts';

const fail = (error: Error) => {
  throw error;
};

test('leaves no row of a deleted account, and an intact file', async () => {
  const path = join(temporaryFolder(), 'firsthand.db');
  const store = await openStore({
    databaseURL: `sqlite:${path}`,
    role: 'server',
    tuning: { eventsPerSegment: 512 },
    onFatal: fail,
  });
  onTestFinished(() => store.close());
  const db = openConnection(path, 'read');
  onTestFinished(() => void db.close());
  const names = db
    .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .pluck()
    .all();
  // Compares only the owners of these tables' rows, because maintenance moves all accounts' rows between the tables.
  const moved = ['recent_total', 'event_total', 'segment_visitors', 'event_repeat', 'audit'];
  const ofAll = ['position', 'event_block', 'event_segment', 'segment_summary', 'segment_slice', 'event_posting'];
  const accountTables = names.filter((name) => ![...moved, ...ofAll, 'owner_change'].includes(name));
  const count = (sql: string) => db.prepare<[], number>(`SELECT count(*) FROM ${sql}`).pluck().get();
  const rows = () => Object.fromEntries(accountTables.map((name) => [name, count(name)]));

  const site = await createSite(store, { time: Date.now() - 40 * 86_400_000 });
  await site.browser.logAt(Date.now(), {}, {}, {});
  await site.server.createContact();
  await expect.poll(() => count('contact_changed')).toBe(0);
  const before = rows();
  await fillSampleShop(store, { events: 2_000 });
  expect(rows().statement).toBeGreaterThan(40);
  await expect.poll(() => count('event_posting')).toBeGreaterThan(100);
  await expect.poll(() => count('contact_changed')).toBe(0);

  expect(await removeSampleShop(store)).toMatchObject({ deletedEvents: 2_000 });
  expect(rows()).toEqual(before);
  for (const name of moved) {
    const ownerColumn = name === 'event_repeat' ? 'holder' : 'account';
    expect([name, count(`${name} WHERE ${ownerColumn} <> 1`)]).toEqual([name, 0]);
  }
  expect(count('event')).toBe(3);
  expect(count('event_posting WHERE what IN (2, 3) AND number <> 1 OR what = 0 AND number <> 1')).toBe(0);
  expect(count('owner_change WHERE account NOT IN (0, 1) OR account = 0 AND coalesce(user, contact) IS NOT NULL')).toBe(
    0,
  );
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(db.pragma('foreign_key_check')).toEqual([]);
});
