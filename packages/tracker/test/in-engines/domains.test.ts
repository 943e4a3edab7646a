/**
 * Tests that a visitor is recognized across a customer's own domains, and that attacks on this fail. Follows
 * docs/several-domains.md.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Tracker } from '../../src/index.ts';
import type { Session, Tab } from '../engines/engine.ts';
import { describeEngines } from '../engines/engines.ts';
import { waitFor } from '../engines/processes.ts';
import type { Account } from './service.ts';
import { openShop, pause, type Shop, waitForTracker } from './shop.ts';

declare const tracker: Tracker;

const attackersUserUUID = 'the-attackers-own-userUUID';
/** All engines treat pages on these hosts like https pages. */
const [shopHost, blogHost, elsewhere] = ['shop.localhost', 'blog.localhost', 'elsewhere.localhost'] as const;
const blog = `http://${blogHost}/blog`;

let shop: Shop;
let account: Account;

beforeAll(async () => {
  shop = await openShop();
  account = await shop.service.createAccount();
  const token = account.browserToken;
  const src = `${shop.gate.url}/tracker.domains.js`;
  const domains = `data-domains="${shopHost} ${blogHost}"`;
  const links = `<a id="blog" href="${blog}?a=b#part">Blog</a><a id="plain" href="${blog}">Blog</a>
<a id="elsewhere" href="http://${elsewhere}/blog">Elsewhere</a><a id="other-port" href="http://${blogHost}:1/blog">Port</a>
<a id="secure" href="https://${blogHost}/blog">https</a><a id="below" href="http://a.${blogHost}/blog">Below</a>`;
  shop.site.publish('/shop', { token, src, attributes: domains, after: links });
  shop.site.publish('/blog', { token, src, attributes: `${domains} data-page-views="9" data-query="a,_visitor"` });
  shop.site.publish('/consent', { token, src, attributes: `${domains} data-consent="required"`, after: links });
});
afterAll(() => shop?.close());

describeEngines('tracker.domains.js', (engine) => {
  let session: Session;

  beforeEach(async () => {
    session = await engine.launch({ proxyPort: shop.site.port });
    shop.gate.requests.length = 0;
  });
  afterEach(async () => {
    await session.close();
    expect(shop.site.errors.splice(0)).toEqual([]);
  });

  const readUser = async (tab: Tab): Promise<string | undefined> =>
    (await tab.cookies()).find(({ name }) => name === 'userUUID')?.value;

  const logOne = async (tab: Tab): Promise<string> => {
    await tab.run(() => void tracker.log(1));
    return waitFor('a cookie', () => readUser(tab));
  };

  /** Opens the shop as a visitor, and waits until its links get a handover. */
  const visitShop = async (): Promise<{ tab: Tab; userUUID: string }> => {
    const tab = await waitForTracker(await session.openTab(`http://${shopHost}/shop`));
    const userUUID = await logOne(tab);
    // Clicks a link with preventDefault, to see whether the tracker adds the handover to its URL.
    await waitFor('a handover', () =>
      tab.run(() => {
        document.body.dispatchEvent(new FocusEvent('focusin', { bubbles: true }));
        const link = document.getElementById('plain') as HTMLAnchorElement;
        link.addEventListener('click', (event) => event.preventDefault(), { once: true });
        link.click();
        return link.href.includes('_visitor') || undefined;
      }),
    );
    // Waits until the link is restored.
    await pause(50);
    return { tab, userUUID };
  };

  const readAddress = (tab: Tab) => tab.run(() => location.href);

  const follow = async (tab: Tab, id: string): Promise<void> => {
    await tab.run((id) => (document.getElementById(id) as HTMLElement).click(), id);
    await waitFor('the other domain', async () =>
      (await readAddress(tab).catch(() => '')).startsWith(blog) ? true : undefined,
    );
    await waitForTracker(tab);
  };

  /** Opens a page on another host, and follows a link from there. */
  const followFrom = async (host: string, href: string, tab?: Tab): Promise<Tab> => {
    const page = tab ?? (await session.openTab(`http://${host}/unpublished`));
    await page.run((href) => {
      document.body.innerHTML = '<a id="link">Go</a>';
      (document.getElementById('link') as HTMLAnchorElement).href = href;
    }, href);
    await follow(page, 'link');
    return page;
  };

  /** Requests a handover with the attacker's userUUID from the victim's browser, as the shop's page would. */
  const sealAsAttacker = async (tab: Tab): Promise<string> => {
    const userAgent = await tab.run(() => navigator.userAgent);
    const response = await fetch(`${shop.service.url}/leave`, {
      method: 'POST',
      headers: { 'User-Agent': userAgent, Origin: `http://${shopHost}` },
      body: JSON.stringify({
        tokenUUID: account.browserToken,
        userUUID: attackersUserUUID,
        from: shopHost,
        to: [blogHost],
      }),
    });
    const { handover } = (await response.json()) as { handover: { handover: string }[] };
    return handover[0]?.handover as string;
  };

  test('recognizes a visitor who follows a link, and leaves no trace in the address or the events', async () => {
    const { tab, userUUID } = await visitShop();
    await follow(tab, 'blog');
    expect(await logOne(tab)).toBe(userUUID);
    expect(await readAddress(tab)).toBe(`${blog}?a=b#part`);
    const events = await waitFor('the page view and the event', async () => {
      const { event } = await account.api.getEvent({ userUUID });
      return event.length === 3 ? event : undefined;
    });
    const [view] = events.filter(({ eventID }) => eventID === 9);
    expect(view?.eventAttrArray).toContainEqual({ attrID: 'path', attrValue: '/blog' });
    expect(JSON.stringify(events)).not.toContain('_visitor');
    // When the visitor returns, the shop's page has the cookie, and needs no handover.
    await tab.goto(`http://${shopHost}/shop`);
    expect(await logOne(await waitForTracker(tab))).toBe(userUUID);
  });

  test('adds a handover only to links to the other listed hosts, and restores them after the click', async () => {
    const { tab } = await visitShop();
    const clicked = await tab.run(() =>
      ['blog', 'plain', 'elsewhere', 'other-port', 'secure', 'below'].map((id) => {
        const link = document.getElementById(id) as HTMLAnchorElement;
        let during = '';
        const stay = (event: Event) => {
          during = link.href;
          event.preventDefault();
        };
        link.addEventListener('click', stay);
        link.click();
        link.removeEventListener('click', stay);
        return [id, /[?&]_visitor=[\w-]{70,}(#|$)/.test(during), during.includes('_visitor')];
      }),
    );
    expect(clicked).toEqual([
      ['blog', true, true],
      ['plain', true, true],
      ['elsewhere', false, false],
      ['other-port', false, false],
      ['secure', false, false],
      ['below', false, false],
    ]);
    await pause(100);
    const hrefs = await tab.run(() => [...document.links].map((link) => link.getAttribute('href')));
    expect(hrefs.slice(0, 2)).toEqual([`${blog}?a=b#part`, blog]);
  });

  test('keeps the userUUID if the browser already has one on the other domain', async () => {
    const tab = await waitForTracker(await session.openTab(blog));
    const blogUserUUID = await logOne(tab);
    const { tab: shopTab, userUUID } = await visitShop();
    await follow(shopTab, 'blog');
    expect(await readAddress(shopTab)).toBe(`${blog}?a=b#part`);
    expect(await logOne(shopTab)).toBe(blogUserUUID);
    expect(blogUserUUID).not.toBe(userUUID);
  });

  test('ignores a handover in a link from another site', async () => {
    const tab = await session.openTab(`http://${elsewhere}/unpublished`);
    const handover = await sealAsAttacker(tab);
    await followFrom(elsewhere, `${blog}?_visitor=${handover}&a=b`, tab);
    expect(await logOne(tab)).not.toBe(attackersUserUUID);
    expect(await readAddress(tab)).toBe(`${blog}?a=b`);
  });

  test('ignores a handover in a typed or shared address', async () => {
    const tab = await session.openTab(`http://${elsewhere}/unpublished`);
    const shared = await waitForTracker(await session.openTab(`${blog}?_visitor=${await sealAsAttacker(tab)}`));
    expect(await logOne(shared)).not.toBe(attackersUserUUID);
    expect(await readAddress(shared)).toBe(blog);
  });

  test('ignores a handover that someone else has written into one of the shop’s pages', async () => {
    const { tab, userUUID } = await visitShop();
    const handover = await sealAsAttacker(tab);
    await followFrom(shopHost, `${blog}?_visitor=${handover}&_visitor=${handover}`, tab);
    expect(await logOne(tab)).toBe(userUUID);
  });

  // Follows a link from a shop page without the tracker, because the tracker would replace the parameter.
  test.each([
    ['unchanged', (handover: string) => `?_visitor=${handover}&x=1`, '?x=1', attackersUserUUID],
    ['repeated', (handover: string) => `?_visitor=${handover}&x=1&_visitor=${handover}`, '?x=1', ''],
    ['altered', (handover: string) => `?_visitor=${handover.slice(0, -9)}AAAAAAAAA`, '', ''],
    ['oversized', (handover: string) => `?x=1&_visitor=${handover.repeat(50)}`, '?x=1', ''],
    ['markup', () => '?_visitor="}<script>&y=2', '?y=2', ''],
    ['empty', () => '?_visitor=', '', ''],
  ] as const)('accepts a handover only if it is intact: %s', async (_, toSearch, search, expectedUserUUID) => {
    const tab = await session.openTab(`http://${shopHost}/unpublished`);
    await followFrom(shopHost, blog + toSearch(await sealAsAttacker(tab)), tab);
    expect((await logOne(tab)) === attackersUserUUID).toBe(expectedUserUUID === attackersUserUUID);
    expect(await readAddress(tab)).toBe(blog + search);
  });

  test('adds a handover to a link that is in a shadow tree or opened in a new tab', async () => {
    const { tab } = await visitShop();
    const clicked = await tab.run((href) => {
      const link = document.createElement('a');
      link.href = href;
      const child = document.createElement('b');
      const root = document.body.appendChild(document.createElement('div')).attachShadow({ mode: 'open' });
      root.appendChild(link).append(child);
      return ['click', 'auxclick'].map((type) => {
        let during = '';
        link.addEventListener(type, (event) => {
          during = link.href;
          event.preventDefault();
        });
        child.dispatchEvent(new MouseEvent(type, { bubbles: true, composed: true }));
        return /\?_visitor=[\w-]{70,}$/.test(during);
      });
    }, blog);
    expect(clicked).toEqual([true, true]);
  });

  test('requests handovers from a busy service only once a minute, and leaves links unchanged', async () => {
    // Set before the page opens, because the tracker requests handovers one second after it has started.
    shop.gate.isBusy = true;
    try {
      const before = shop.gate.rejectedRequests.length;
      const tab = await waitForTracker(await session.openTab(`http://${shopHost}/shop`));
      await logOne(tab);
      await hoverInTab(tab);
      await hoverInTab(tab);
      expect(shop.gate.rejectedRequests.slice(before).filter((request) => request === 'POST /leave')).toHaveLength(1);
      const clicked = await tab.run(() => {
        const link = document.getElementById('plain') as HTMLAnchorElement;
        link.addEventListener('click', (event) => event.preventDefault());
        link.click();
        return link.href;
      });
      expect(clicked).toBe(blog);
    } finally {
      shop.gate.isBusy = false;
    }
  });

  test('ignores a late handover, counts the visitor as a new user, and loses no event', async () => {
    const { tab, userUUID } = await visitShop();
    shop.gate.delayNext(5_000);
    await follow(tab, 'blog');
    const other = await logOne(tab);
    expect(other).not.toBe(userUUID);
    await waitFor('the page view and the event', async () => {
      const { event } = await account.api.getEvent({ userUUID: other });
      return event.length === 2 || undefined;
    });
    await pause(4_000);
    expect(await readUser(tab)).toBe(other);
  });

  test('recognizes visitors across domains only with consent', async () => {
    const consentTab = await waitForTracker(await session.openTab(`http://${shopHost}/consent`));
    await hoverInTab(consentTab);
    expect(shop.gate.requests.filter((request) => request.startsWith('POST'))).toEqual([]);

    const { tab, userUUID } = await visitShop();
    const before = shop.gate.requests.length;
    await tab.run((href) => {
      (document.getElementById('plain') as HTMLAnchorElement).href = href;
    }, `http://${blogHost}/consent`);
    await tab.run(() => (document.getElementById('plain') as HTMLElement).click());
    await waitFor('the page that asks for consent', async () =>
      (await readAddress(tab).catch(() => '')).endsWith('/consent') && !(await readAddress(tab)).includes(shopHost)
        ? true
        : undefined,
    );
    await waitForTracker(tab);
    await hoverInTab(tab);
    expect(await tab.cookies()).toEqual([]);
    expect(shop.gate.requests.slice(before).filter((request) => request.startsWith('POST'))).toEqual([]);
    await tab.run(() => tracker.consent(true));
    expect(await logOne(tab)).toBe(userUUID);
  });

  const hoverInTab = async (tab: Tab): Promise<void> => {
    await tab.run(() => document.body.dispatchEvent(new FocusEvent('focusin', { bubbles: true })));
    await pause(1_300);
  };
});
