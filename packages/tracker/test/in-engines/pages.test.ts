/** Tests that the tracker causes no errors on restrictive or restored pages, and that their events arrive. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ContactResult, Tracker } from '../../src/index.ts';
import { openUnautomated } from '../engines/chromium.ts';
import type { Session, Tab } from '../engines/engine.ts';
import { describeEngines } from '../engines/engines.ts';
import { waitFor } from '../engines/processes.ts';
import type { Account } from './service.ts';
import { openShop, pause, type Shop, waitForTracker } from './shop.ts';
import type { Page } from './site.ts';
import { countEvents, readStored } from './tally.ts';

declare const tracker: Tracker;

let shop: Shop;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

describeEngines('the tracker', (engine) => {
  let session: Session;
  let account: Account;

  beforeAll(async () => {
    session = await engine.launch();
  });
  afterAll(() => session?.close());
  beforeEach(async () => {
    account = await shop.service.createAccount();
    shop.gate.requests.length = 0;
  });
  afterEach(async () => {
    // Waits, because a reported error may still be in flight.
    await pause(300);
    expect(shop.site.errors.splice(0)).toEqual([]);
  });

  const publish = (path: string, page: Omit<Page, 'token'> = {}): string =>
    shop.site.publish(path, { token: account.browserToken, ...page });
  const visit = async (path: string, page?: Omit<Page, 'token'>): Promise<Tab> =>
    waitForTracker(await session.openTab(publish(path, page)));
  const log = (tab: Tab, nth: number) => tab.run((nth) => void tracker.log(1, { line: 0, nth }), nth);
  const logImmediately = '<script>tracker.log(1, { line: 0, nth: 0 })</script>';

  /** Waits until `count` events are stored, and returns them in order. */
  const waitForStored = async (count: number) => {
    await waitFor('the events', async () => (await countEvents(account.api)) >= count || undefined);
    return readStored(account.api);
  };
  const expectNumbers = async (...numbers: number[]) =>
    expect((await waitForStored(numbers.length)).map(({ nth }) => nth)).toEqual(numbers);

  test('works if the page overrides JSON and storage, extends and freezes prototypes, and makes `tracker` read-only', async () => {
    // Runs no scripts through the driver, because WebKit's driver needs an intact JSON object in the page.
    const page = publish('/hostile', {
      before: `<script>
        JSON.stringify = JSON.parse = () => { throw new Error('overridden'); };
        Array.prototype.toJSON = Object.prototype.toJSON = () => 'spoilt';
        Object.prototype.added = 'by an old library';
        Storage.prototype.setItem = Storage.prototype.getItem = () => { throw new Error('patched'); };
      </script>`,
      after: `<script>
        Object.defineProperty(window, 'tracker', { value: tracker, writable: false });
        for (const each of [window, document, navigator, location, Object.prototype, Function.prototype])
          try { Object.freeze(each); } catch { /* A window can't be frozen everywhere. */ }
        addEventListener('load', () => void tracker.log(1, { line: 0, nth: 1 }));
      </script>${logImmediately}`,
    });
    await session.openTab(page);
    await expectNumbers(0, 1);
  });

  test.for([-1, 1])(
    'logs event times that are accurate to the second, and in order, if the clock is off by %d day',
    async (days) => {
      const tab = await visit(`/clock/${days}`, {
        before: `<script>const rightNow = Date.now; Date.now = () => rightNow() + ${days * 86_400_000};</script>`,
      });
      const start = Date.now();
      shop.gate.delayNext(500);
      await tab.run(() => {
        tracker.log(1, { line: 0, nth: 0 });
        setTimeout(() => void tracker.log(1, { line: 0, nth: 1 }), 100);
      });
      await expectNumbers(0, 1);
      const end = Date.now();
      const { event } = await account.api.getEvent({ order: 'asc' });
      for (const { eventTime, eventTimeReplaced } of event) {
        expect(eventTimeReplaced).toBeUndefined();
        expect(Date.parse(eventTime)).toBeGreaterThan(start - 1_000);
        expect(Date.parse(eventTime)).toBeLessThan(end + 1_000);
      }
    },
  );

  test('accepts attributes and fields that throw or can’t be converted to text', async () => {
    const tab = await visit('/odd');
    await tab.run(() => {
      const logAnything = tracker.log as (...args: unknown[]) => void;
      const fail = () => {
        throw new Error('of the page');
      };
      const cycle: { [key: string]: unknown } = { nth: 1 };
      cycle.self = cycle;
      const throwing = Object.defineProperty({ nth: 0 }, 'bad', { get: fail, enumerable: true });
      const hostile = new Proxy({}, { ownKeys: fail, get: fail });
      for (const attrs of [throwing, cycle, { nth: 2, node: document.body, symbol: Symbol('s'), call: fail }])
        logAnything(1, attrs);
      logAnything(2, hostile);
      for (const eventID of [0, Number.NaN, Symbol('s'), hostile, {}, null]) logAnything(eventID);
      const createContact = tracker.createContact as (...args: unknown[]) => unknown;
      for (const fields of [null, hostile, throwing]) createContact(fields);
    });
    const numbers = (await waitForStored(4)).map(({ nth }) => nth);
    expect(numbers.slice(0, 3)).toEqual([0, 1, 2]);
  });

  test('works under a strict CSP with a nonce, from its immutable URL with an integrity hash, after its tag is removed', async () => {
    const built = await fetch(`${shop.service.url}/integrity.json`);
    const { 'tracker.js': script } = (await built.json()) as Record<string, { src: string; integrity: string }>;
    const tab = await visit('/strict', {
      src: `${shop.gate.url}/${script?.src}`,
      attributes: `integrity="${script?.integrity}" crossorigin onload-removes`,
      nonce: 'n0nce',
      headers: {
        'content-security-policy': `default-src 'none'; script-src 'nonce-n0nce'; connect-src 'self' ${shop.gate.url}; base-uri 'none'`,
      },
      after: `<script>
        const script = document.querySelector('[onload-removes]');
        script.onload = () => script.remove();
      </script>${logImmediately}`,
    });
    await waitFor('the tag’s removal', () => tab.run(() => !document.querySelector('[integrity]') || undefined));
    await log(tab, 1);
    await expectNumbers(0, 1);
    expect(shop.gate.requests).toContain(`GET /${script?.src}`);
  });

  test('does not start if the script has a different hash, and leaves the page working', async () => {
    const tab = await session.openTab(
      publish('/tampered', { attributes: 'integrity="sha384-AAAA" crossorigin', after: logImmediately }),
    );
    await pause(500);
    expect(await tab.run(() => Object.hasOwn(tracker, 'push'))).toBe(false);
  });

  test('works on a sandboxed page, with storage and cookies blocked', async () => {
    const tab = await visit('/sandboxed', {
      headers: { 'content-security-policy': 'sandbox allow-scripts' },
      after: logImmediately,
    });
    const isForbidden = () => {
      try {
        return !localStorage;
      } catch {
        return true;
      }
    };
    expect(await tab.run(isForbidden)).toBe(true);
    await log(tab, 1);
    const users = (await waitForStored(2)).map(({ userUUID }) => userUUID);
    expect(new Set(users).size).toBe(1);
    await expectNumbers(0, 1);
  });

  test('works in a sandboxed frame inside a page that also has the tracker', async () => {
    publish('/framed', { after: '<script>tracker.log(1, { line: 1, nth: 0 })</script>' });
    await visit('/framing', { after: `${logImmediately}<iframe sandbox="allow-scripts" src="/framed"></iframe>` });
    const events = await waitForStored(2);
    expect(events.map(({ line }) => line).sort()).toEqual([0, 1]);
    expect(new Set(events.map(({ userUUID }) => userUUID)).size).toBe(2);
  });

  test('keeps the order of calls made before the script loads, and passes the results of createContact to callback and promise', async () => {
    shop.site.scriptDelayMilliseconds = 1_000;
    const tab = await visit('/early', {
      src: '/stats/tracker.js',
      after: `${logImmediately}<script>
        const fields = { contactEmailaddress: 'ann@shop.example', contactProfileID: 'customer' };
        tracker.createContact(fields, (result) => { window.calledBack = result; })
          .then((result) => { window.resolved = result; });
        tracker.log(1, { line: 0, nth: 1 });
        tracker.reset();
        tracker.log(1, { line: 0, nth: 2 });
      </script>`,
    });
    shop.site.scriptDelayMilliseconds = 0;
    await log(tab, 3);
    const events = await waitForStored(4);
    expect(events.map(({ nth }) => nth)).toEqual([0, 1, 2, 3]);
    const [first, second, third, fourth] = events.map(({ userUUID }) => userUUID);
    expect([second, fourth]).toEqual([first, third]);
    expect(third).not.toBe(first);
    const readResults = () => {
      const { calledBack, resolved } = window as unknown as { [name: string]: ContactResult };
      // Copies, because Firefox's driver returns the same object only once.
      return calledBack && resolved ? [{ ...calledBack }, { ...resolved }] : undefined;
    };
    const [calledBack, resolved] = await waitFor('the results', () => tab.run(readResults));
    expect(resolved).toEqual(calledBack);
    expect(resolved).toMatchObject({ exists: false, contactUUID: expect.stringMatching(/./) });
    const { event } = await account.api.getEvent({ order: 'asc' });
    expect(event.map(({ contactUUID }) => contactUUID !== '')).toEqual([true, true, false, false]);
  });

  test('keeps working on a page restored from the back-forward cache', async () => {
    const tab = await visit('/coming-back', {
      after: `<script>addEventListener('pageshow', ({ persisted }) => { window.isPersisted = persisted; })</script>`,
    });
    for (const nth of [0, 1, 2]) {
      await log(tab, 2 * nth);
      await waitForStored(2 * nth + 1);
      // The last event is sent while the page is frozen.
      await tab.run(
        (nth) => {
          addEventListener('pagehide', () => void tracker.log(1, { line: 0, nth }), { once: true });
          setTimeout(() => location.assign('/elsewhere'));
        },
        2 * nth + 1,
      );
      const isAt = (path: string) =>
        waitFor(path, () => tab.run((path) => location.pathname === path || undefined, path).catch(() => undefined));
      await isAt('/elsewhere');
      await waitForStored(2 * nth + 2);
      await tab.run(() => void setTimeout(() => history.back()));
      await isAt('/coming-back');
      await waitFor('the page to be shown', () =>
        tab.run(() => (window as unknown as { isPersisted?: boolean }).isPersisted || undefined).catch(() => undefined),
      );
    }
    await log(tab, 6);
    await expectNumbers(0, 1, 2, 3, 4, 5, 6);
  });

  // Only Chromium prerenders pages.
  if (engine.name === 'Chromium')
    test('starts on a prerendered page only when the page is shown', async () => {
      const rules = { prerender: [{ source: 'list', urls: ['/ahead'], eagerness: 'immediate' }] };
      const before = publish('/before', {
        after: `<script type="speculationrules">${JSON.stringify(rules)}</script><script>
          const go = async () => (await (await fetch('/go')).text()).includes('A shop') && location.assign('/ahead');
          setInterval(go, 100);
        </script>`,
      });
      publish('/ahead', {
        after: `${logImmediately}<script>
          document.addEventListener('prerenderingchange', () => void tracker.log(1, { line: 0, nth: 1 }));
        </script>`,
      });
      const browser = await openUnautomated(before);
      try {
        await waitFor('the page to be rendered', () => shop.site.prerenderedPaths.includes('/ahead') || undefined);
        await pause(2_000);
        expect(shop.gate.requests.filter((request) => request.startsWith('POST'))).toEqual([]);
        publish('/go');
        await expectNumbers(0, 1);
      } finally {
        await browser.close();
      }
    });
});
