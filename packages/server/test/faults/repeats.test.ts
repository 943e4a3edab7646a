import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { createRandom, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { makeAccount, startServed, stopServed } from '../tools/served.ts';
import { changeServer } from '../tools/weakened.ts';
import { storingRepeats } from '../weaknesses/store.ts';

const sends = times({ quick: 30_000, full: 1_000_000 });
const batch = 500;
const clients = 4;
const daysBack = 6;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-repeats-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Sent {
  readonly eventUUID: string;
  readonly userUUID: string;
  readonly eventTime: number;
}

/** Sends events of several days, a fifth of them ones that were sent before, from several clients at once. */
const sendRepeatedly = async (name: string, count: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  const token = await makeAccount(path);
  const served = await startServed(path, await freePort(), { main });
  const random = createRandom(99);
  const now = Date.now();
  const made: Sent[] = [];
  let sent = 0;
  let repeats = 0;
  let kept = 0;
  let duplicates = 0;

  const next = (): Sent => {
    sent += 1;
    if (made.length > 0 && random() < 0.2) {
      repeats += 1;
      return made[Math.floor(random() * made.length)] as Sent;
    }
    const event = {
      eventUUID: `event_${String(made.length).padStart(12, '0')}`,
      userUUID: `user_${String(Math.floor(random() * 1_000)).padStart(16, '0')}`,
      eventTime: now - Math.floor(random() * daysBack * 86_400_000),
    };
    made.push(event);
    return event;
  };
  const client = async () => {
    while (sent < count) {
      const event = Array.from({ length: Math.min(batch, count - sent) }, () => ({ eventID: 1, ...next() }));
      const response = await fetch(`${served.url}/event/logEvents`, {
        method: 'POST',
        body: JSON.stringify({ tokenUUID: token, event }),
      });
      const answer = (await response.json()) as { event: { status: string; duplicate?: boolean }[] };
      for (const { status, duplicate } of answer.event) {
        expect(status).toBe('200');
        if (duplicate) duplicates += 1;
        else kept += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  await stopServed(served);
  const db = new Database(path, { readonly: true });
  const count1 = (sql: string) => db.prepare<[], number>(sql).pluck().get() as number;
  const rows = count1('SELECT count(*) FROM event');
  const distinct = count1('SELECT count(*) FROM (SELECT DISTINCT user, eventUUID FROM event)');
  db.close();
  return { sent, repeats, kept, duplicates, rows, twice: rows - distinct, made: made.length };
};

test(`keeps each event once through ${sends} sends of which a fifth are repeats`, async (context) => {
  const found = await sendRepeatedly('ours', sends);
  expect(found).toEqual({ ...found, twice: 0, rows: found.made, kept: found.made, duplicates: found.repeats });
  const weakened = await sendRepeatedly('weakened', 2_000, changeServer(folder, 'forgetful', storingRepeats));
  expect(weakened.twice).toBeGreaterThan(0);
  report(context, {
    fault: 'retries',
    count: `${found.sent} sends, ${found.repeats} of them repeats, over ${daysBack} days of event time`,
    result: `0 twice; ${found.rows} rows, ${found.duplicates} answers of duplicate`,
    weakened: `does not know what was sent before: ${weakened.twice} of ${weakened.sent} twice`,
  });
});
