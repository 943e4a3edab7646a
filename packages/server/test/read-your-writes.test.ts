import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@firsthand/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../src/config/config.ts';
import { type Serving, serve } from '../src/serving/serve.ts';
import { createTestAccount } from './tools/server-process.ts';

let folder: string;
let serving: Serving;
let token: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-read-'));
  const path = join(folder, 'firsthand.db');
  token = await createTestAccount(path);
  serving = await serve(readConfig({ DATABASE_URL: `sqlite:${path}`, PORT: '0', LOG_LEVEL: 'error' }));
});
afterAll(async () => {
  await serving.close();
  rmSync(folder, { recursive: true });
});

const clients = Array.from({ length: 24 }, (_, number) => number);

test('makes every event visible to the first read after the 200 response, with 24 concurrent clients', async () => {
  const unseen = await Promise.all(
    clients.map(async (number) => {
      const api = createClient({ url: serving.url, token });
      const userUUID = `reader_${String(number).padStart(16, '0')}`;
      const missed: string[] = [];
      for (let nth = 0; nth < 8; nth += 1) {
        const { eventUUID } = await api.logEvent({ userUUID, eventID: 1 + (nth % 3) });
        // Reads by user, by event ID and without a filter, because each read uses a different index.
        const filters = [{ userUUID }, { eventID: 1 + (nth % 3) }, {}];
        const pages = await Promise.all(filters.map((filter) => api.getEvent({ ...filter, limit: 1_000 })));
        if (!pages.every(({ event }) => event.some((one) => one.eventUUID === eventUUID))) missed.push(eventUUID);
      }
      return missed;
    }),
  );
  expect(unseen.flat()).toEqual([]);
});

test('makes a link visible to the first read after the 200 response: the history belongs to the contact', async () => {
  const wrong = await Promise.all(
    clients.map(async (number) => {
      const api = createClient({ url: serving.url, token });
      const userUUID = `linked_${String(number).padStart(16, '0')}`;
      await api.logEvents({ userUUID, event: Array.from({ length: 50 }, () => ({ eventID: 7 })) });
      const { contactUUID } = await api.createContact({
        userUUID,
        contactEmailaddress: `reader${number}@shop.example`,
        contactProfileID: 'customer',
      });
      const { event } = await api.getEvent({ contactUUID, limit: 1_000 });
      return event.length === 50 && event.every((one) => one.contactUUID === contactUUID) ? [] : [userUUID];
    }),
  );
  expect(wrong.flat()).toEqual([]);
});
