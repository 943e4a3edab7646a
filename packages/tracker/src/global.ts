/**
 * The type of the global `tracker`, for pages with the script tag: `import '@firsthand/tracker/global'`. Contains no
 * code.
 */
import type { BundledTracker } from './index.ts';

declare global {
  /**
   * Created by the snippet with all methods, so that it can be called before the script has loaded. In `/main.js`,
   * `set` only warns.
   */
  var tracker: BundledTracker;
}
