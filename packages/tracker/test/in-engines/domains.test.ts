/** Visitors across a customer's own domains, and what others must not do with that. Follows docs/several-domains.md. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Tracker } from '../../src/index.ts';
import type { Session, Tab } from '../engines/engine.ts';
import { describeEngines } from '../engines/engines.ts';
import { waitFor } from '../engines/processes.ts';
import type { Account } from './service.ts';
import { openShop, pause, ready, type Shop } from './shop.ts';

declare const tracker: Tracker;

const attackersUserUUID = 'the-attackers-own-userUUID';
/** In all engines, pages of these hosts are as good as on https. */
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
  shop.site.publish('/asking', { token, src, attributes: `${domains} data-consent="required"`, after: links });
});
afterAll(() => shop?.close());

describeEngines('several domains', (engine) => {
  let session: Session;

  beforeEach(async () => {
    session = await engine.launch({ proxyPort: shop.site.port });
    shop.gate.requests.length = 0;
  });
  afterEach(async () => {
    await session.close();
    expect(shop.site.errors.splice(0)).toEqual([]);
  });

  const userOf = async (tab: Tab): Promise<string | undefined> =>
    (await tab.cookies()).find(({ name }) => name === 'userUUID')?.value;

  const logOne = async (tab: Tab): Promise<string> => {
    await tab.run(() => void tracker.log(1));
    return waitFor('a cookie', () => userOf(tab));
  };

  /** A visitor on the shop, whose links have been given a handover. */
  const visitShop = async (): Promise<{ tab: Tab; userUUID: string }> => {
    const tab = await ready(await session.openTab(`http://${shopHost}/shop`));
    const userUUID = await logOne(tab);
    // A click that does nothing shows whether the links have one.
    await waitFor('a handover', () =>
      tab.run(() => {
        document.body.dispatchEvent(new FocusEvent('focusin', { bubbles: true }));
        const link = document.getElementById('plain') as HTMLAnchorElement;
        link.addEventListener('click', (event) => event.preventDefault(), { once: true });
        link.click();
        return link.href.includes('_visitor') || undefined;
      }),
    );
    // Then the link is as it was.
    await pause(50);
    return { tab, userUUID };
  };

  const addressOf = (tab: Tab) => tab.run(() => location.href);

  const follow = async (tab: Tab, id: string): Promise<void> => {
    await tab.run((id) => (document.getElementById(id) as HTMLElement).click(), id);
    await waitFor('the other domain', async () =>
      (await addressOf(tab).catch(() => '')).startsWith(blog) ? true : undefined,
    );
    await ready(tab);
  };

  /** Opens a page of another site, and follows its link. */
  const followFrom = async (host: string, href: string, tab?: Tab): Promise<Tab> => {
    const page = tab ?? (await session.openTab(`http://${host}/unpublished`));
    await page.run((href) => {
      document.body.innerHTML = '<a id="link">Go</a>';
      (document.getElementById('link') as HTMLAnchorElement).href = href;
    }, href);
    await follow(page, 'link');
    return page;
  };

  /** A handover for the userUUID of somebody who knows how: made as the shop's page would, for the victim's own browser. */
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

  test('a link carries the visitor over, and neither address nor events show it', async () => {
    const { tab, userUUID } = await visitShop();
    await follow(tab, 'blog');
    expect(await logOne(tab)).toBe(userUUID);
    expect(await addressOf(tab)).toBe(`${blog}?a=b#part`);
    const events = await waitFor('the page view and the event', async () => {
      const { event } = await account.api.getEvent({ userUUID });
      return event.length === 3 ? event : undefined;
    });
    const [view] = events.filter(({ eventID }) => eventID === 9);
    expect(view?.eventAttrArray).toContainEqual({ attrID: 'path', attrValue: '/blog' });
    expect(JSON.stringify(events)).not.toContain('_visitor');
    // On the way back it knows the visitor, and nothing is asked.
    await tab.goto(`http://${shopHost}/shop`);
    expect(await logOne(await ready(tab))).toBe(userUUID);
  });

  test('only the other listed hosts get one, and the link is as before after the click', async () => {
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

  test('a browser that has a userUUID there keeps it', async () => {
    const tab = await ready(await session.openTab(blog));
    const known = await logOne(tab);
    const { tab: shopTab, userUUID } = await visitShop();
    await follow(shopTab, 'blog');
    expect(await addressOf(shopTab)).toBe(`${blog}?a=b#part`);
    expect(await logOne(shopTab)).toBe(known);
    expect(known).not.toBe(userUUID);
  });

  test('a link from elsewhere makes nobody another person', async () => {
    const tab = await session.openTab(`http://${elsewhere}/unpublished`);
    const handover = await sealAsAttacker(tab);
    await followFrom(elsewhere, `${blog}?_visitor=${handover}&a=b`, tab);
    expect(await logOne(tab)).not.toBe(attackersUserUUID);
    expect(await addressOf(tab)).toBe(`${blog}?a=b`);
  });

  test('neither does one that was typed or shared', async () => {
    const tab = await session.openTab(`http://${elsewhere}/unpublished`);
    const shared = await ready(await session.openTab(`${blog}?_visitor=${await sealAsAttacker(tab)}`));
    expect(await logOne(shared)).not.toBe(attackersUserUUID);
    expect(await addressOf(shared)).toBe(blog);
  });

  test('nor one that somebody else has written into a page of the shop', async () => {
    const { tab, userUUID } = await visitShop();
    const handover = await sealAsAttacker(tab);
    await followFrom(shopHost, `${blog}?_visitor=${handover}&_visitor=${handover}`, tab);
    expect(await logOne(tab)).toBe(userUUID);
  });

  // From a page of the shop without the tracker, which would replace the parameter.
  test.each([
    ['as it was made', (one: string) => `?_visitor=${one}&x=1`, '?x=1', attackersUserUUID],
    ['twice', (one: string) => `?_visitor=${one}&x=1&_visitor=${one}`, '?x=1', ''],
    ['changed', (one: string) => `?_visitor=${one.slice(0, -9)}AAAAAAAAA`, '', ''],
    ['huge', (one: string) => `?x=1&_visitor=${one.repeat(50)}`, '?x=1', ''],
    ['markup', () => '?_visitor="}<script>&y=2', '?y=2', ''],
    ['empty', () => '?_visitor=', '', ''],
  ] as const)('a handover that is %s is taken only if it is whole', async (_, toSearch, search, taken) => {
    const tab = await session.openTab(`http://${shopHost}/unpublished`);
    await followFrom(shopHost, blog + toSearch(await sealAsAttacker(tab)), tab);
    expect((await logOne(tab)) === attackersUserUUID).toBe(taken === attackersUserUUID);
    expect(await addressOf(tab)).toBe(blog + search);
  });

  test('a link that is opened in a new tab, or is in a shadow tree, gets one too', async () => {
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

  test('a service that is busy is asked once a minute, and links stay as they are written', async () => {
    // Before the page opens, because it asks a second after it has started.
    shop.gate.isBusy = true;
    try {
      const before = shop.gate.refused.length;
      const tab = await ready(await session.openTab(`http://${shopHost}/shop`));
      await logOne(tab);
      await tabHovers(tab);
      await tabHovers(tab);
      expect(shop.gate.refused.slice(before).filter((request) => request === 'POST /leave')).toHaveLength(1);
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

  test('late, it makes no difference: the visitor is another user, and no event is lost', async () => {
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
    expect(await userOf(tab)).toBe(other);
  });

  test('without consent nobody leaves or arrives, and with it somebody does', async () => {
    const asking = await ready(await session.openTab(`http://${shopHost}/asking`));
    await tabHovers(asking);
    expect(shop.gate.requests.filter((request) => request.startsWith('POST'))).toEqual([]);

    const { tab, userUUID } = await visitShop();
    const before = shop.gate.requests.length;
    await tab.run((href) => {
      (document.getElementById('plain') as HTMLAnchorElement).href = href;
    }, `http://${blogHost}/asking`);
    await tab.run(() => (document.getElementById('plain') as HTMLElement).click());
    await waitFor('the page that asks', async () =>
      (await addressOf(tab).catch(() => '')).endsWith('/asking') && !(await addressOf(tab)).includes(shopHost)
        ? true
        : undefined,
    );
    await ready(tab);
    await tabHovers(tab);
    expect(await tab.cookies()).toEqual([]);
    expect(shop.gate.requests.slice(before).filter((request) => request.startsWith('POST'))).toEqual([]);
    await tab.run(() => tracker.consent(true));
    expect(await logOne(tab)).toBe(userUUID);
  });

  const tabHovers = async (tab: Tab): Promise<void> => {
    await tab.run(() => document.body.dispatchEvent(new FocusEvent('focusin', { bubbles: true })));
    await pause(1_300);
  };
});
