/**
 * Warns about a proxy that TRUST_PROXY does not list: all visitors behind it count as one address and share a rate
 * limit.
 */
import type { Context } from 'hono';
import type { Logger } from 'pino';
import type { Store } from '../../store/store.ts';
import { connectedAddress, createNetworkMatcher } from './client-address.ts';

/**
 * Loopback, private, shared and link-local networks (RFC 6890, RFC 4193), from which no internet visitor can connect.
 */
const isPrivate = createNetworkMatcher([
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '169.254.0.0/16'],
  ...['::1/128', 'fc00::/7', 'fe80::/10'],
]);

/** Whether a proxy on a private address forwarded a request. Such connections serve many clients. */
export const isForwarded = (c: Context): boolean => {
  const { headers } = c.req.raw;
  if (headers.get('x-forwarded-for') === null && headers.get('forwarded') === null) return false;
  return isPrivate(connectedAddress(c));
};

const hourMilliseconds = 3_600_000;

/**
 * Returns a function to call with each rate-limited request. On the first request from an unlisted proxy it logs a
 * warning, and at most once an hour it stores a note for `firsthand doctor`. Setting TRUST_PROXY clears the note. `now`
 * is in milliseconds since 1970.
 */
export const createProxyNotice = (
  trustProxy: readonly string[],
  log: Logger,
  store: Pick<Store, 'recordUnknownProxy'>,
  now: () => number,
): ((c: Context) => void) => {
  // A note that can't be stored is retried an hour later.
  const note = (seenTime: number | null) => void store.recordUnknownProxy({ seenTime }).catch(() => {});
  if (trustProxy.length > 0) {
    note(null);
    return () => {};
  }
  let notedTime: number | undefined;
  return (c) => {
    const time = now();
    if (notedTime !== undefined && time - notedTime < hourMilliseconds) return;
    if (!isForwarded(c)) return;
    if (notedTime === undefined) {
      log.warn(
        'a proxy on a private address forwards requests, and TRUST_PROXY is not set: all its visitors share one rate limit. ' +
          "Set TRUST_PROXY to the proxy's address, such as 127.0.0.1",
      );
    }
    notedTime = time;
    note(time);
  };
};
