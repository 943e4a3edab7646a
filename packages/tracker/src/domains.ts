/**
 * The entry point of `/tracker.domains.js`: `/tracker.full.js`, plus recognizing visitors on the customer's other
 * domains.
 */
import { logAutomatically } from './automatic/automatic.ts';
import { handOver } from './automatic/handover.ts';
import { addSetMethod } from './default-attributes.ts';
import { startInPage } from './page.ts';

startInPage(logAutomatically, (tracker, options, base) => {
  addSetMethod(tracker);
  handOver(tracker, options, base);
});
