/** Rules of deleting accounts, for both drivers. */

/**
 * So long after its tokens were revoked, no server stores anything for an account any more: a server on PostgreSQL knows within a second
 * that a token is revoked.
 */
const restMilliseconds = 2_000;

/** How long the last step must wait still. Both times are in milliseconds since 1970. */
export const restOfPause = ({ beganTime, time }: { readonly beganTime: number; readonly time: number }): number =>
  // A clock that was set back must not make it longer.
  Math.min(restMilliseconds, Math.max(0, beganTime + restMilliseconds - time));
