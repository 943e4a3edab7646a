import { safeDocument } from './document.ts';
import { setPastTime } from './eventUUID.ts';
import { guard } from './guard.ts';
import { awaitTitle } from './titles.ts';
import type { Tracker } from './tracker.ts';

/** Two hosts with the same last two labels are taken for one site. */
const siteOf = (host: string): string => host.split('.').slice(-2).join('.');

/** A referrer without what a page of this site may have in its query, such as the token of a link that resets a password. */
const toReferrer = (address: string): string => {
  if (!address) return '';
  const { origin, pathname, hostname } = new URL(address);
  return siteOf(hostname) === siteOf(location.hostname) ? origin + pathname : address;
};

/**
 * Logs the page now, and each time that its address changes: by a script, by going back and forth, and by the hash if
 * `data-hash` is there. An address that stays the same is logged once, whatever the page does to its history. A page that comes
 * back from the back-forward cache is logged again. The query's `utm_*` and `ref` are logged, or the parameters that `data-query`
 * names. A page view has the time at which the address changed.
 *
 * Where there is no Navigation API, `history.pushState` and `replaceState` are wrapped, as properties of `history` itself.
 * `tracker.restoreHistory()` puts back what was there, unless another script has wrapped them since.
 */
export const logPageViews = (tracker: Tracker, options: DOMStringMap): void => {
  const isKept = (name: string): boolean =>
    options.query === undefined ? /^(utm_.*|ref)$/.test(name) : options.query.split(/[\s,]+/).includes(name);
  let page: string | undefined;
  let referrer = toReferrer(safeDocument.referrer);
  /** Of a change that was heard of, and not yet looked at: the page's title and the time. */
  let change: { title: string | undefined; time: number } | undefined;
  let settleLast = (_title: string): void => {};

  const look = guard((): void => {
    const { title, time } = change || { title: undefined, time: Date.now() };
    change = undefined;
    // What follows a question mark in the hash is the query of a router's address.
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

  // In the next task: what is replaced at once, as by a redirect, was no page.
  const lookSoon = (): void => {
    if (!change) setTimeout(look);
    change = change || { title: safeDocument.title, time: Date.now() };
  };

  // An element of that name has no current entry, nor has a sandboxed page.
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
