/** The rules for deleting accounts. */

/**
 * When this has passed since the revocation of its tokens, no server stores anything for an account. PostgreSQL servers
 * notice it within 1 s.
 */
const restMilliseconds = 2_000;

/** Returns how long the last step must still wait. */
export const getRemainingPause = ({ beganTime, time }: { readonly beganTime: number; readonly time: number }): number =>
  // A clock that was set back must not lengthen the pause.
  Math.min(restMilliseconds, Math.max(0, beganTime + restMilliseconds - time));
