/**
 * Page views for sites that bundle the tracker. No other module imports this one, so that bundlers can leave it out.
 */
import { logPageViews as logTagPageViews } from './automatic/page-views.ts';
import type { Tracker } from './tracker.ts';

export type PageViewOptions = {
  /** The eventID or name of the event to log. */
  readonly event: number | string;
  /** Query parameters that become attributes, instead of `utm_*` and `ref`. */
  readonly query?: readonly string[];
  /** Whether a hash change counts as a page view. */
  readonly hash?: boolean;
};

/**
 * Logs a page view now and each time the page's address changes, as the script tag with `data-page-views` does. Call it
 * once, in the module that creates the tracker; on a server it does nothing.
 */
export const logPageViews = (
  tracker: { log(event: never, attrs: never): void },
  { event, query, hash }: PageViewOptions,
): void => {
  if (typeof document === 'undefined') return;
  logTagPageViews(tracker as Tracker, {
    pageViews: `${event}`,
    ...(query && { query: query.join(' ') }),
    ...(hash && { hash: '' }),
  });
};
