/** Where the cookie lands, on hosts of every kind, as real browsers have it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@firsthand/client';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { freePort, type Served, startServed } from '../../../server/test/faults/served.ts';
import type { Cookie, Session } from '../engines/engine.ts';
import { describeEngines } from '../engines/engines.ts';
import { waitFor } from '../engines/processes.ts';
import { openSite, type Site } from './site.ts';

/** The host of the page, and where its cookie belongs: with a dot in front, subdomains have it too. */
const hosts = [
  { host: 'localhost', domain: 'localhost' },
  { host: '127.0.0.1', domain: '127.0.0.1' },
  { host: 'intranet', domain: 'intranet' },
  { host: 'shop.example', domain: '.shop.example' },
  { host: 'www.shop.example', domain: '.shop.example' },
  { host: 'a.b.shop.co.uk', domain: '.shop.co.uk' },
  { host: 'user.github.io', domain: '.user.github.io' },
] as const;

const secondsPerDay = 86_400;

let folder: string;
let served: Served;
let site: Site;
let token: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firsthand-cookies-'));
  process.env.OPERATOR_TOKEN = 'operator_of_the_cookie_tests_0000';
  served = await startServed(join(folder, 'firsthand.db'), await freePort());
  site = await openSite(served.url);
  const operator = createClient({ url: served.url, token: process.env.OPERATOR_TOKEN });
  token = (await operator.createAccount({ accountName: 'Cookies' })).browserTokenUUID;
});

afterAll(async () => {
  site?.close();
  served?.process.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

describeEngines('the cookie', (engine) => {
  let session: Session;

  beforeEach(async () => {
    session = await engine.launch({ proxyPort: site.port });
  });
  afterEach(async () => {
    await session.close();
    expect(site.errors.splice(0)).toEqual([]);
  });

  const visit = async (host: string): Promise<Cookie[]> => {
    const tab = await session.openTab(`http://${host}/page?token=${token}`);
    return waitFor(`a cookie on ${host}`, async () => {
      const cookies = await tab.cookies();
      return cookies.some(({ name }) => name === 'userUUID') ? cookies : undefined;
    });
  };

  test('is one, on the widest domain that the browser lets us set, for 400 days', async () => {
    const landed = [];
    for (const { host } of hosts) {
      const cookies = await visit(host);
      const [cookie] = cookies;
      const days = ((cookie?.expires ?? 0) - Date.now() / 1e3) / secondsPerDay;
      landed.push({
        host,
        count: cookies.length,
        name: cookie?.name,
        domain: cookie?.domain,
        path: cookie?.path,
        sameSite: cookie?.sameSite.toLowerCase(),
        days: Math.round(days),
      });
    }
    const one = { count: 1, name: 'userUUID', path: '/', sameSite: 'lax', days: 400 };
    expect(landed).toEqual(hosts.map((expected) => ({ ...expected, ...one })));
  });

  test('is the same on shop.example and www.shop.example, and another one elsewhere', async () => {
    const values = [];
    for (const host of ['www.shop.example', 'shop.example', 'deep.down.shop.example', 'other.example'])
      values.push((await visit(host))[0]?.value);
    const [first, second, third, elsewhere] = values;
    expect(first).toMatch(/^[\w-]{21}$/);
    expect([second, third]).toEqual([first, first]);
    expect(elsewhere).not.toBe(first);
  });
});
