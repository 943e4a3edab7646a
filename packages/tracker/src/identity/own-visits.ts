import { guard } from '../guard.ts';
import { warn } from '../warn.ts';

/**
 * Whether this browser's visits are ignored: `localStorage.ignore_firsthand` is set to any string. The name doesn't
 * begin with `firsthand`, so withdrawing consent doesn't erase it.
 */
export const areVisitsIgnored = guard((): unknown => {
  const isSet = localStorage.ignore_firsthand;
  if (isSet) warn('ignore_firsthand');
  return isSet;
});
