/** Tests the cookie's domain on all kinds of hosts, in real browsers. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Tracker } from '../../src/index.ts';
import type { Cookie, Session } from '../engines/engine.ts';
import { describeEngines } from '../engines/engines.ts';
import { waitFor } from '../engines/processes.ts';
import { openShop, type Shop, waitForTracker } from './shop.ts';

declare const tracker: Tracker;

/** The page's host, and its cookie's domain: a leading dot includes subdomains. */
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

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
  const { browserToken: token } = await shop.service.createAccount();
  shop.site.publish('/page', { token });
  shop.site.publish('/own', { token, src: '/stats/tracker.js' });
});
afterAll(() => shop?.close());

describeEngines('the cookie', (engine) => {
  let session: Session;

  beforeEach(async () => {
    session = await engine.launch({ proxyPort: shop.site.port });
  });
  afterEach(async () => {
    await session.close();
    expect(shop.site.errors.splice(0)).toEqual([]);
  });

  const visit = async (host: string): Promise<Cookie[]> => {
    const tab = await session.openTab(`http://${host}/page`);
    return waitFor(`a cookie on ${host}`, async () => {
      const cookies = await tab.cookies();
      return cookies.some(({ name }) => name === 'userUUID') ? cookies : undefined;
    });
  };

  test('is set once, for 400 days, on the widest domain that the browser accepts', async () => {
    const results = [];
    for (const { host } of hosts) {
      const cookies = await visit(host);
      const [cookie] = cookies;
      const days = ((cookie?.expires ?? 0) - Date.now() / 1e3) / secondsPerDay;
      results.push({
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
    expect(results).toEqual(hosts.map((expected) => ({ ...expected, ...one })));
  });

  test('is the same on shop.example and www.shop.example, and different elsewhere', async () => {
    const values = [];
    for (const host of ['www.shop.example', 'shop.example', 'deep.down.shop.example', 'other.example'])
      values.push((await visit(host))[0]?.value);
    const [first, second, third, elsewhere] = values;
    expect(first).toMatch(/^[\w-]{21}$/);
    expect([second, third]).toEqual([first, first]);
    expect(elsewhere).not.toBe(first);
  });

  // Browsers send `Sec-Fetch-Site` only to trustworthy origins, such as https and localhost.
  test.each([
    { host: 'localhost', domain: 'localhost' },
    { host: 'www.shop.localhost', domain: '.shop.localhost' },
  ])('is renewed by a service on the site’s own origin: $host', async ({ host, domain }) => {
    const tab = await waitForTracker(await session.openTab(`http://${host}/own`));
    const readCookies = () => tab.cookies().then((cookies) => cookies.filter(({ name }) => name === 'userUUID'));
    const [scriptCookie] = await waitFor('the cookie', async () =>
      (await readCookies()).length > 0 ? readCookies() : undefined,
    );
    const daysLeft = async () =>
      (await readCookies()).map(({ expires }) => Math.round((expires - Date.now() / 1e3) / secondsPerDay));
    // Safari limits a cookie that was set by a script to a week. Retries, because the page may be renewing the cookie.
    await waitFor('a cookie for a week', async () => {
      await tab.run(
        (value, domain) => {
          // biome-ignore lint/suspicious/noDocumentCookie: Safari has no other way
          document.cookie = `userUUID=${value}; max-age=604800; samesite=lax; path=/${domain && `; domain=${domain}`}`;
        },
        scriptCookie?.value as string,
        domain.startsWith('.') ? domain.slice(1) : '',
      );
      return `${await daysLeft()}` === '7' || undefined;
    });
    await tab.run(() => void tracker.log(1));
    await waitFor('the renewed cookie', async () => (await daysLeft()).includes(400) || undefined);
    expect(await readCookies()).toEqual([expect.objectContaining({ value: scriptCookie?.value, domain, path: '/' })]);
  });
});
