import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@firsthand/client';
import { BROWSER_MAP, OS_MAP } from 'bowser';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import {
  browserToken,
  createTestAccount,
  startServerProcess,
  stopServerProcess,
  withoutLimits,
} from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { acceptingAnyBrowserName } from '../weaknesses/http.ts';

const count = times({ quick: 400, full: 100_000 });
const userUUID = 'visitor-0123456789';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-labels-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const labels: Readonly<Record<string, readonly string[]>> = {
  $browser: Object.values(BROWSER_MAP),
  $os: Object.values(OS_MAP),
  $device: ['desktop', 'phone', 'tablet'],
  $agent: ['AI agent', 'crawler', 'automated browser'],
};
const parts = [
  'Mozilla/5.0 ',
  'Chrome/1.0 ',
  '(Linux; Android 9) ',
  'Version/2 ',
  'Mobile ',
  'Windows NT 6.1 ',
  'rv:1.0 ',
  '/',
  ' ',
];

/**
 * Logs events whose headers and attributes contain a mark. Returns the stored attributes, and whether the files or the
 * log contain the mark.
 */
const flood = async (name: string, main?: string) => {
  mkdirSync(join(folder, name));
  const path = join(folder, name, 'firsthand.db');
  const serverToken = await createTestAccount(path);
  const env = { RATE_LIMIT: withoutLimits(), LOG_LEVEL: 'trace' };
  const served = await startServerProcess(path, await freePort(), { main, env });
  const random = createRandom(7);
  const mark = () => `Forged${Math.floor(random() * 1e9).toString(36)}`;
  for (let nth = 0; nth < count; nth += 1) {
    const agentParts = Array.from(
      { length: Math.floor(random() * 5) },
      () => parts[Math.floor(random() * parts.length)],
    );
    const eventAttrArray = [...Object.keys(labels), '$country'].map((attrID) => ({ attrID, attrValue: mark() }));
    const response = await fetch(`${served.url}/logEvent`, {
      method: 'POST',
      headers: {
        'User-Agent': `${mark()}/1.0 ${agentParts.join('')}${mark()}`,
        'Sec-CH-UA': `"${mark()}";v="1"`,
        'Sec-CH-UA-Mobile': `?${mark()}`,
        'Sec-CH-UA-Platform': `"${mark()}"`,
      },
      body: JSON.stringify({ tokenUUID: browserToken, userUUID, eventID: 1, eventAttrArray }),
    });
    expect(await response.json()).toMatchObject({ status: '200', ignored: { length: eventAttrArray.length } });
  }
  const client = createClient({ url: served.url, token: serverToken });
  const attributes: { attrID: string; attrValue: string }[] = [];
  for await (const { event } of client.pages('getEvent', {})) {
    for (const { eventAttrArray } of event) attributes.push(...eventAttrArray);
  }
  const { attr } = (await client.getAccount({})).account;
  await stopServerProcess(served);
  const files = readdirSync(join(folder, name)).map((file) => readFileSync(join(folder, name, file), 'latin1'));
  return { attributes, attr, hasMark: [...files, served.complaints()].some((text) => text.includes('Forged')) };
};

test('derives only listed labels from a page’s headers and attributes, and neither stores nor logs other values', async () => {
  const { attributes, attr, hasMark } = await flood('ours');
  expect(attributes.length).toBeGreaterThan(count / 4);
  // The expected labels: some of these user agents mark bots.
  const expectedLabels: typeof labels = { ...labels, robot: ['true'] };
  expect(attributes.filter(({ attrID, attrValue }) => !expectedLabels[attrID]?.includes(attrValue))).toEqual([]);
  expect(attr).toEqual([]);
  expect(hasMark).toBe(false);

  const weakened = await flood('weakened', changeServer(folder, 'any-name', acceptingAnyBrowserName));
  expect(weakened.hasMark).toBe(true);
});
