/** The entry point of `/tracker.full.js`: the tracker, with automatic logging as set by the script tag's attributes. */
import { logClicks } from './automatic/clicks.ts';
import { createContacts } from './automatic/forms.ts';
import { logPageViews } from './automatic/page-views.ts';
import { startInPage } from './page.ts';

startInPage((tracker, options) => {
  if (options.pageViews) logPageViews(tracker, options);
  logClicks(tracker, options);
  if ('contacts' in options) createContacts(tracker);
});
