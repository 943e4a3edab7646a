import { safeDocument } from '../document.ts';
import { guard } from '../guard.ts';
import { setPastTime } from '../records/event-uuid.ts';
import type { Tracker } from '../tracker.ts';
import { awaitTitle } from './titles.ts';

/** Returns a host's last two labels. Hosts that share them count as one site. */
const siteOf = (host: string): string => host.split('.').slice(-2).join('.');

/** Removes the query from a same-site referrer, because it may contain a secret such as a password-reset token. */
const toReferrer = (address: string): string => {
  if (!address) return '';
  const { origin, pathname, hostname } = new URL(address);
  return siteOf(hostname) === siteOf(location.hostname) ? origin + pathname : address;
};

/**
 * Logs a page view now and each time the page's address changes. A return from the back-forward cache also counts as a
 * page view and, with `data-hash`, so does a hash change.
 *
 * Without the Navigation API, `history.pushState` and `replaceState` are wrapped. `tracker.restoreHistory()` restores
 * them, unless another script has wrapped them since.
 */
export const logPageViews = (tracker: Tracker, options: DOMStringMap): void => {
  const isLoggedParameter = (name: string): boolean =>
    options.query === undefined ? /^(utm_.*|ref)$/.test(name) : options.query.split(/[\s,]+/).includes(name);
  let page: string | undefined;
  let referrer = toReferrer(safeDocument.referrer);
  /** The title and time at the first address change that `check` has not handled yet. */
  let pendingChange: { title: string | undefined; time: number } | undefined;
  let settlePrevious = (_title: string): void => {};

  const check = guard((): void => {
    const { title, time } = pendingChange || { title: undefined, time: Date.now() };
    pendingChange = undefined;
    // Leaves out a query in the hash, which some routers put there.
    const path = location.pathname + ('hash' in options ? (location.hash.split('?')[0] as string) : '');
    const address = path + location.search;
    if (page === address) return;
    page = address;
    settlePrevious(title as string);
    const attrs: Record<string, string> = { path, referrer };
    new URLSearchParams(location.search).forEach((value, name) => {
      if (isLoggedParameter(name)) attrs[name] = value;
    });
    referrer = location.origin + location.pathname;
    settlePrevious = awaitTitle(title, (title) => {
      setPastTime(time);
      tracker.log(options.pageViews as string, { ...attrs, title });
      setPastTime();
    });
  });

  // Checks in the next task, because an address that is replaced immediately, as by a redirect, is not a page view.
  const scheduleCheck = (): void => {
    if (!pendingChange) setTimeout(check);
    pendingChange = pendingChange || { title: safeDocument.title, time: Date.now() };
  };

  // Checks `currentEntry`, because `window.navigation` may be an element with that name, or unusable in a sandboxed
  // page.
  const { navigation } = window as unknown as { navigation?: EventTarget & { currentEntry?: unknown } };
  if (navigation?.currentEntry) {
    navigation.addEventListener('currententrychange', scheduleCheck);
    tracker.restoreHistory = () => navigation.removeEventListener('currententrychange', scheduleCheck);
  } else {
    const restores = (['pushState', 'replaceState'] as const).map((method) => {
      const original = history[method];
      const wrapped = function (this: History, ...args: Parameters<History['pushState']>): void {
        original.apply(this, args);
        scheduleCheck();
      };
      history[method] = wrapped;
      return () => {
        if (history[method] === wrapped) history[method] = original;
      };
    });
    tracker.restoreHistory = () => {
      for (const restore of restores) restore();
    };
    addEventListener('popstate', scheduleCheck);
    addEventListener('hashchange', scheduleCheck);
  }
  addEventListener('pageshow', (event) => {
    if (event.persisted) page = '';
    check();
  });
  check();
};
