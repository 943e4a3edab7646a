import { guard } from './guard.ts';
import type { Tracker } from './tracker.ts';

/**
 * Logs the page now, and each time that its address changes: through the History API, by going back and forth, and by the
 * hash if asked. An address that stays the same is logged once, whatever the page does to its history. A page that comes
 * back from the back-forward cache is logged again.
 *
 * `history.pushState` and `replaceState` are wrapped, as properties of `history` itself; `tracker.restoreHistory()` puts
 * back what was there, unless another script has wrapped them since.
 */
export const logPageViews = (tracker: Tracker, eventID: string, withHash: boolean): void => {
  let page: string | undefined;
  let { referrer } = document;

  const log = guard((): void => {
    const path = location.pathname + (withHash ? location.hash : '');
    const address = path + location.search;
    if (page === address) return;
    page = address;
    const attrs: Record<string, string> = { path, referrer, title: document.title };
    new URLSearchParams(location.search).forEach((value, name) => {
      if (/^utm_/.test(name)) attrs[name] = value;
    });
    tracker.log(eventID, attrs);
    referrer = location.href;
  });

  // A moment later: routers change the address first, and the title with what they show.
  const logSoon = () => setTimeout(log);

  const restores = (['pushState', 'replaceState'] as const).map((method) => {
    const original = history[method];
    const wrapped = function (this: History, ...args: Parameters<History['pushState']>): void {
      original.apply(this, args);
      logSoon();
    };
    history[method] = wrapped;
    return () => {
      if (history[method] === wrapped) history[method] = original;
    };
  });
  tracker.restoreHistory = () => {
    for (const restore of restores) restore();
  };
  addEventListener('popstate', logSoon);
  addEventListener('hashchange', logSoon);
  addEventListener('pageshow', (event) => {
    if (event.persisted) page = '';
    log();
  });
  log();
};
