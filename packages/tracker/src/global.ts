/** The type of the global `tracker`, for pages with the script tag: `import '@firsthand/tracker/global'`. It runs no code. */
import type { Tracker } from './tracker.ts';

declare global {
  /** Created by the snippet, so that it may be called before the script has loaded. */
  var tracker: Tracker;
}
