import { safeDocument } from '../document.ts';
import { guard } from '../guard.ts';
import { setPastTime } from '../records/event-uuid.ts';
import type { Tracker } from '../tracker.ts';
import { awaitTitle } from './titles.ts';

/** The last two labels of a host. Hosts that share them count as one site. */
const siteOf = (host: string): string => host.split('.').slice(-2).join('.');

/** The referrer; if it is of this site, without its query, which may hold a secret, such as the token of a password reset. */
const toReferrer = (address: string): string => {
  if (!address) return '';
  const { origin, pathname, hostname } = new URL(address);
  return siteOf(hostname) === siteOf(location.hostname) ? origin + pathname : address;
};

/**
 * Logs a page view now, and each time that the page's address changes: by a script, by going back or forward, and by the hash if
 * the tag has `data-hash`. An unchanged address is logged once, even if the page changes its history. A page that returns from the
 * back-forward cache is logged again. The query parameters `utm_*` and `ref` are logged, or those that `data-query` names. A page
 * view has the time at which the address changed.
 *
 * Without a Navigation API, `history.pushState` and `replaceState` are wrapped, as properties of `history` itself.
 * `tracker.restoreHistory()` restores them, unless another script has wrapped them since.
 */
export const logPageViews = (tracker: Tracker, options: DOMStringMap): void => {
  const isKept = (name: string): boolean =>
    options.query === undefined ? /^(utm_.*|ref)$/.test(name) : options.query.split(/[\s,]+/).includes(name);
  let page: string | undefined;
  let referrer = toReferrer(safeDocument.referrer);
  /** The page's title and the time of a change that was reported, but not handled yet. */
  let change: { title: string | undefined; time: number } | undefined;
  let settleLast = (_title: string): void => {};

  const look = guard((): void => {
    const { title, time } = change || { title: undefined, time: Date.now() };
    change = undefined;
    // A question mark in the hash begins the query of a router's address, which is left out.
    const path = location.pathname + ('hash' in options ? (location.hash.split('?')[0] as string) : '');
    const address = path + location.search;
    if (page === address) return;
    page = address;
    settleLast(title as string);
    const attrs: Record<string, string> = { path, referrer };
    new URLSearchParams(location.search).forEach((value, name) => {
      if (isKept(name)) attrs[name] = value;
    });
    referrer = location.origin + location.pathname;
    settleLast = awaitTitle(title, (title) => {
      setPastTime(time);
      tracker.log(options.pageViews as string, { ...attrs, title });
      setPastTime();
    });
  });

  // Looks in the next task, because an address that is replaced at once, as by a redirect, was no page.
  const lookSoon = (): void => {
    if (!change) setTimeout(look);
    change = change || { title: safeDocument.title, time: Date.now() };
  };

  // An element named `navigation` has no current entry, and neither does a sandboxed page.
  const { navigation } = window as unknown as { navigation?: EventTarget & { currentEntry?: unknown } };
  if (navigation?.currentEntry) {
    navigation.addEventListener('currententrychange', lookSoon);
    tracker.restoreHistory = () => navigation.removeEventListener('currententrychange', lookSoon);
  } else {
    const restores = (['pushState', 'replaceState'] as const).map((method) => {
      const original = history[method];
      const wrapped = function (this: History, ...args: Parameters<History['pushState']>): void {
        original.apply(this, args);
        lookSoon();
      };
      history[method] = wrapped;
      return () => {
        if (history[method] === wrapped) history[method] = original;
      };
    });
    tracker.restoreHistory = () => {
      for (const restore of restores) restore();
    };
    addEventListener('popstate', lookSoon);
    addEventListener('hashchange', lookSoon);
  }
  addEventListener('pageshow', (event) => {
    if (event.persisted) page = '';
    look();
  });
  look();
};
