import { guard } from '../guard.ts';
import { warn } from '../warn.ts';

/**
 * Whether this browser's visits are ignored, because `localStorage.ignore_firsthand` is set, to any text. That name does not begin
 * with `firsthand`, so that withdrawing consent leaves it.
 */
export const areVisitsIgnored = guard((): unknown => {
  const isSet = localStorage.ignore_firsthand;
  if (isSet) warn('ignore_firsthand');
  return isSet;
});
