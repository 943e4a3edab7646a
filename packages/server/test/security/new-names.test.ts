// Tests that an honest page loses no event or name, although anyone with a page's token can add event names to a
// catalogue.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { browserToken, createTestAccount, startServerProcess, stopServerProcess } from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { refusingUnlistedNames } from '../weaknesses/http.ts';

const requests = times({ quick: 6, full: 100 });
const namesPerRequest = 100;
const honestNames = ['Signed up', 'Bought', 'Signed out'];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-names-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Sends new names from one IPv6 /48, then an honest page's events from another network. */
const attack = async (name: string, main?: string) => {
  const path = join(folder, `${name}.db`);
  const server = await createTestAccount(path);
  const served = await startServerProcess(path, await freePort(), { main, env: { TRUST_PROXY: '127.0.0.1' } });
  const post = async (from: string, userUUID: string, eventNames: readonly string[]) => {
    const response = await fetch(`${served.url}/event/logEvents`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': from },
      body: JSON.stringify({
        tokenUUID: browserToken,
        userUUID,
        event: eventNames.map((eventName) => ({ eventName })),
      }),
    });
    return (await response.json()) as { event: { status: string }[] };
  };
  const read = async (at: string, fields: Record<string, string> = {}) => {
    const requestURL = `${served.url}${at}?${new URLSearchParams({ tokenUUID: server, ...fields })}`;
    const response = await fetch(requestURL);
    expect(response.status).toBe(200);
    // biome-ignore lint/suspicious/noExplicitAny: the test checks what it reads.
    return (await response.json()) as any;
  };
  for (let request = 0; request < requests; request += 1) {
    const names = Array.from({ length: namesPerRequest }, (_, nth) => `name ${request} ${nth}`);
    await post(`2001:db8:1:${request.toString(16)}::1`, `mallory-${String(request).padStart(10, '0')}`, names);
  }
  const added = (await read('/account/getAccount')).account.event.length as number;
  await post('198.51.100.7', 'visitor-0123456789', honestNames);
  const catalogue = (await read('/account/getAccount')).account.event as { eventName: string }[];
  const pages = await Promise.all(honestNames.map((eventName) => read('/event/getEvent', { eventName })));
  await stopServerProcess(served);
  return {
    added,
    honestListed: catalogue.filter(({ eventName }) => honestNames.includes(eventName)).length,
    honestStored: pages.filter(({ event }) => event.length === 1).length,
  };
};

test('stores and lists an honest page’s events during a flood of new names', async (context) => {
  const all = honestNames.length;
  expect(await attack('ours')).toEqual({ added: 20, honestListed: all, honestStored: all });
  const weakened = await attack('weakened', changeServer(folder, 'refusing', refusingUnlistedNames));
  expect(weakened).toEqual({ added: 500, honestListed: 0, honestStored: 0 });
  report(context, {
    fault: 'flood of event names',
    count: `${requests} requests with ${namesPerRequest} new names with a page's token, from one IPv6 /48`,
    result: `20 names added; all ${all} new names of an honest page listed, and their events found by name`,
    weakened: `no limit, and unlisted names refused: 500 names added, ${weakened.honestStored} of ${all} events stored`,
  });
});
