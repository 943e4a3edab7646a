/** Warns of a proxy that TRUST_PROXY does not name, because all its visitors count as one address and share a rate limit. */
import { BlockList, isIP } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import type { Store } from '../../store/store.ts';
import { bare } from './client-address.ts';

/** Recognises loopback, private, shared and link-local addresses (RFC 6890, RFC 4193), which no visitor from the internet has. */
const createIsPrivate = () => {
  const networks = new BlockList();
  const subnets = {
    ipv4: ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '169.254.0.0/16'],
    ipv6: ['::1/128', 'fc00::/7', 'fe80::/10'],
  } as const;
  for (const family of ['ipv4', 'ipv6'] as const) {
    for (const subnet of subnets[family]) {
      const [address, bits] = subnet.split('/') as [string, string];
      networks.addSubnet(address, Number(bits), family);
    }
  }
  return (address: string) => {
    const version = isIP(address);
    return version !== 0 && networks.check(address, version === 6 ? 'ipv6' : 'ipv4');
  };
};

/** Returns a function that says whether a proxy on a private address forwarded a request. Such a connection serves many clients. */
export const createIsForwarded = () => {
  const isPrivate = createIsPrivate();
  return (c: Context): boolean => {
    const { headers } = c.req.raw;
    if (headers.get('x-forwarded-for') === null && headers.get('forwarded') === null) return false;
    const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
    return isPrivate(bare(incoming?.socket?.remoteAddress ?? ''));
  };
};

const hourMilliseconds = 3_600_000;

interface ProxyNoticeOptions {
  readonly log: Logger;
  readonly store: Pick<Store, 'noteUnknownProxy'>;
  /** The time of day, in milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Returns a function to be called with each request that counts against a rate limit. At the first request from such a proxy it
 * logs a warning, and at most once an hour it stores a note for `firsthand doctor`. With TRUST_PROXY the note is deleted.
 */
export const createProxyNotice = (
  trustProxy: readonly string[],
  { log, store, now }: ProxyNoticeOptions,
): ((c: Context) => void) => {
  // If a note can't be stored, the next one is tried an hour later.
  const note = (seenTime: number | null) => void store.noteUnknownProxy({ seenTime }).catch(() => {});
  if (trustProxy.length > 0) {
    note(null);
    return () => {};
  }
  const isForwarded = createIsForwarded();
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
