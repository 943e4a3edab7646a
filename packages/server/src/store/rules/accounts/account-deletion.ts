/** The rules for deleting accounts. */

/**
 * Once this time has passed since an account's tokens were revoked, no server stores anything for the account.
 * PostgreSQL servers notice the revocation within 1 s.
 */
const restMilliseconds = 2_000;

/** Returns how many milliseconds the last step of a deletion must still wait. */
export const getRemainingPause = ({ beganTime, time }: { readonly beganTime: number; readonly time: number }): number =>
  // The maximum applies if the clock was set back.
  Math.min(restMilliseconds, Math.max(0, beganTime + restMilliseconds - time));
