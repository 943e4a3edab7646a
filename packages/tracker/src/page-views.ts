/** Page views for sites that bundle the tracker. Nothing else imports this file, so that a bundle without page views has none of it. */
import { logPageViews as logPageViewsOf } from './automatic/page-views.ts';
import type { Tracker } from './tracker.ts';

export type PageViewOptions = {
  /** The eventID or name of the event that is logged. */
  readonly event: number | string;
  /** Parameters of the query that become attributes, instead of `utm_*` and `ref`. */
  readonly query?: readonly string[];
  /** Whether a change of the hash is a page view too. */
  readonly hash?: boolean;
};

/**
 * Logs a page view now and each time that the page's address changes, as the script tag with `data-page-views` does. It is to be called
 * once, in the module that creates the tracker. On a server it does nothing.
 */
export const logPageViews = (
  tracker: { log(event: never, attrs: never): void },
  { event, query, hash }: PageViewOptions,
): void => {
  if (typeof document === 'undefined') return;
  logPageViewsOf(tracker as Tracker, {
    pageViews: `${event}`,
    ...(query && { query: query.join(' ') }),
    ...(hash && { hash: '' }),
  });
};
