import type { Tracker } from '../tracker.ts';
import { logClicks } from './clicks.ts';
import { createContacts } from './forms.ts';
import { logPageViews } from './page-views.ts';

/** Starts the automatic logging that the script tag's attributes configure. */
export const logAutomatically = (tracker: Tracker, options: DOMStringMap): void => {
  if (options.pageViews) logPageViews(tracker, options);
  logClicks(tracker, options);
  if ('contacts' in options) createContacts(tracker);
};
