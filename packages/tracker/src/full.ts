/** `/tracker.full.js`: the tracker, and what it logs by itself as the script tag's attributes say. */
import { logClicks } from './clicks.ts';
import { createContacts } from './forms.ts';
import { startInPage } from './page.ts';
import { logPageViews } from './pageViews.ts';

startInPage((tracker, options) => {
  if (options.pageViews) logPageViews(tracker, options);
  logClicks(tracker, options);
  if ('contacts' in options) createContacts(tracker);
});
