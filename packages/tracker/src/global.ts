/**
 * The type of the global `tracker`, for pages with the script tag: `import '@firsthand/tracker/global'`. Contains no
 * code.
 */
import type { BundledTracker } from './index.ts';

declare global {
  /**
   * The snippet creates it with all methods, so that pages can call them before the script has loaded. In `/main.js`,
   * `set` only warns.
   */
  var tracker: BundledTracker;
}
