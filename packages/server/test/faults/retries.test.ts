import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { createRandom, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { createTestAccount, startServerProcess, stopServerProcess } from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { storingDuplicates } from '../weaknesses/store.ts';

const sends = times({ quick: 30_000, full: 1_000_000 });
const batch = 500;
const clients = 4;
const daysBack = 6;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-repeats-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface SentEvent {
  readonly eventUUID: string;
  readonly userUUID: string;
  readonly eventTime: number;
}

/**
 * Sends events with times on several days from several concurrent clients. A fifth of the requests resend earlier
 * events.
 */
const sendRepeatedly = async (name: string, count: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  const token = await createTestAccount(path);
  const served = await startServerProcess(path, await freePort(), { main });
  const random = createRandom(99);
  const now = Date.now();
  const distinctEvents: SentEvent[] = [];
  let sent = 0;
  let repeats = 0;
  let stored = 0;
  let duplicates = 0;

  const next = (): SentEvent => {
    sent += 1;
    if (distinctEvents.length > 0 && random() < 0.2) {
      repeats += 1;
      return distinctEvents[Math.floor(random() * distinctEvents.length)] as SentEvent;
    }
    const event = {
      eventUUID: `event_${String(distinctEvents.length).padStart(12, '0')}`,
      userUUID: `user_${String(Math.floor(random() * 1_000)).padStart(16, '0')}`,
      eventTime: now - Math.floor(random() * daysBack * 86_400_000),
    };
    distinctEvents.push(event);
    return event;
  };
  const client = async () => {
    while (sent < count) {
      const event = Array.from({ length: Math.min(batch, count - sent) }, () => ({ eventID: 1, ...next() }));
      const response = await fetch(`${served.url}/event/logEvents`, {
        method: 'POST',
        body: JSON.stringify({ tokenUUID: token, event }),
      });
      const parsed = (await response.json()) as { event: { status: string; duplicate?: boolean }[] };
      for (const { status, duplicate } of parsed.event) {
        expect(status).toBe('200');
        if (duplicate) duplicates += 1;
        else stored += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  await stopServerProcess(served);
  const db = new Database(path, { readonly: true });
  const readCount = (sql: string) => db.prepare<[], number>(sql).pluck().get() as number;
  const rows = readCount('SELECT count(*) FROM event');
  const distinct = readCount('SELECT count(*) FROM (SELECT DISTINCT user, eventUUID FROM event)');
  db.close();
  return { sent, repeats, stored, duplicates, rows, twice: rows - distinct, distinctEvents: distinctEvents.length };
};

test(`stores each event once although a fifth of ${sends} requests are retries`, async (context) => {
  const result = await sendRepeatedly('ours', sends);
  expect(result).toEqual({
    ...result,
    twice: 0,
    rows: result.distinctEvents,
    stored: result.distinctEvents,
    duplicates: result.repeats,
  });
  const weakened = await sendRepeatedly('weakened', 2_000, changeServer(folder, 'forgetful', storingDuplicates));
  expect(weakened.twice).toBeGreaterThan(0);
  report(context, {
    fault: 'retries',
    count: `${result.sent} sends, ${result.repeats} of them repeats, over ${daysBack} days of event time`,
    result: `0 twice; ${result.rows} rows, ${result.duplicates} reported as duplicates`,
    weakened: `does not detect repeats: ${weakened.twice} of ${weakened.sent} twice`,
  });
});
