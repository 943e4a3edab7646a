/** Computes client addresses, which are never stored: they are used only to count requests and look up the country. */
import { hash, randomBytes } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { dayMilliseconds } from '../../shared/time.ts';

/**
 * Strips the zone, brackets and port from an address. An IPv4-mapped address, such as `::ffff:192.0.2.1` (RFC 4291
 * section 2.5.5.2), becomes IPv4.
 */
export const normalizeAddress = (text: string): string => {
  const trimmed = text.trim();
  const inBrackets = /^\[([^\]]*)\](?::\d+)?$/.exec(trimmed)?.[1];
  const withPort = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(trimmed)?.[1];
  return (inBrackets ?? withPort ?? trimmed).replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
};

/** Returns a function that checks whether an address is in one of these networks, such as `10.0.0.0/8` and `::1`. */
export const createNetworkMatcher = (networks: readonly string[]) => {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  // Cached because a check takes 1.3 µs, and most requests come from the same proxy.
  let latest = '';
  let isLatestIn = false;
  return (address: string) => {
    if (address !== latest) {
      const version = isIP(address);
      isLatestIn = version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4');
      latest = address;
    }
    return isLatestIn;
  };
};

/** Returns Node's request and response; empty if the request didn't come over a socket, as in tests. */
export const bindingsOf = (c: Context): Partial<HttpBindings> => c.env ?? {};

/** Returns the address of the connection, which can be a proxy's; "" without a connection. */
const remoteAddress = (c: Context): string => bindingsOf(c).incoming?.socket?.remoteAddress ?? '';
export const connectedAddress = (c: Context): string => normalizeAddress(remoteAddress(c));

/**
 * Returns the first bits of an IPv6 address (a /64 belongs to one household or machine, RFC 6177). Returns an IPv4
 * address unchanged.
 */
export const networkOf = (address: string, bits: 48 | 64 = 64): string => {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups =
    tail === undefined ? first : [...first, ...Array(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last];
  return groups
    .slice(0, bits / 16)
    .map((group) => Number.parseInt(group, 16))
    .join(':');
};

/**
 * Returns a function that computes the client's address: the rightmost address, from the connection's back through
 * X-Forwarded-For, that isn't a trusted proxy's. Clients can forge any entry to the left of it.
 */
export const createClientAddress = (trustProxy: readonly string[]) => {
  const isTrusted = createNetworkMatcher(trustProxy);
  return (connected: string, forwardedFor: string | null): string => {
    let address = normalizeAddress(connected);
    if (!forwardedFor) return address;
    const hops = forwardedFor.split(',');
    while (hops.length > 0 && isTrusted(address)) {
      const hop = normalizeAddress(hops.pop() as string);
      if (isIP(hop) === 0) break;
      address = hop;
    }
    return address;
  };
};

/** Returns a function that computes the client's address from a request. */
export const createRequestAddress = (trustProxy: readonly string[]): ((c: Context) => string) => {
  const clientAddress = createClientAddress(trustProxy);
  return (c) =>
    clientAddress(remoteAddress(c), trustProxy.length === 0 ? null : c.req.raw.headers.get('x-forwarded-for'));
};

export type AddressOf = (c: Context) => string;

/** Returns a function that hashes a network with a key that is kept only in memory and changes daily. */
export const createNetworkHash = (clock = () => performance.now()): ((network: string) => string) => {
  let key = randomBytes(32).toString('base64');
  let keyedAt = clock();
  return (network) => {
    const now = clock();
    if (now - keyedAt > dayMilliseconds) {
      key = randomBytes(32).toString('base64');
      keyedAt = now;
    }
    return hash('sha256', key + network, 'base64');
  };
};

/**
 * Returns 24 bits of the hash: enough to distinguish the senders on a list, too few to identify one. Even with the key,
 * each number matches about 256 IPv4 addresses.
 */
export const senderNumber = (networkHash: string): number => Buffer.from(networkHash, 'base64').readUIntBE(0, 3);

/**
 * Returns a function that hashes a client's network. With `bits` set to 48, the network of an IPv6 address is its /48,
 * which a provider can assign to one customer (RFC 6177).
 */
export const createAddressHasher = (
  trustProxy: readonly string[],
  { clock, bits }: { readonly clock?: (() => number) | undefined; readonly bits?: 48 | 64 } = {},
): AddressOf => {
  const requestAddress = createRequestAddress(trustProxy);
  const hashOf = createNetworkHash(clock);
  return (c) => hashOf(networkOf(requestAddress(c), bits));
};
