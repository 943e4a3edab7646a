/** Where a request comes from: known here, for as long as it takes to count it, and written nowhere. */
import { hash, randomBytes } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

const dayMilliseconds = 86_400_000;

/** `::ffff:192.0.2.1` is an IPv4 address (RFC 4291 section 2.5.5.2); a zone, brackets or a port are not part of one. */
export const bare = (text: string): string => {
  const trimmed = text.trim();
  const inBrackets = /^\[([^\]]*)\](?::\d+)?$/.exec(trimmed)?.[1];
  const withPort = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(trimmed)?.[1];
  return (inBrackets ?? withPort ?? trimmed).replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
};

/** Whether an address is one of these proxies. */
export const createTrust = (proxies: readonly string[]) => {
  const trusted = new BlockList();
  for (const proxy of proxies) {
    const [address = '', prefix] = proxy.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(prefix), family);
  }
  return (address: string) => {
    const version = isIP(address);
    return version !== 0 && trusted.check(address, version === 6 ? 'ipv6' : 'ipv4');
  };
};

/** The first 64 bits of an IPv6 address: what one household or machine is given whole (RFC 6177). IPv4 as it is. */
export const networkOf = (address: string): string => {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups =
    tail === undefined ? first : [...first, ...Array(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16))
    .join(':');
};

/**
 * The address of the client: the one that the connection comes from; if that is a trusted proxy's, what the proxy wrote
 * last into X-Forwarded-For, and so on from the right for as long as those are trusted as well. What is further left
 * anybody can have written.
 */
export const createClientAddress = (trustProxy: readonly string[]) => {
  const isTrusted = createTrust(trustProxy);
  return (connected: string, forwardedFor: string | null): string => {
    let address = bare(connected);
    if (trustProxy.length === 0 || !forwardedFor) return address;
    const hops = forwardedFor.split(',');
    while (isTrusted(address)) {
      const hop = bare(hops.pop() ?? '');
      if (isIP(hop) === 0) break;
      address = hop;
    }
    return address;
  };
};

export type AddressOf = (c: Context) => string;

/** The client's network as it is: to be counted by another process, which hashes it. */
export const createNetworkOf = (trustProxy: readonly string[]): AddressOf => {
  const addressOf = createClientAddress(trustProxy);
  return (c) => {
    const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
    const forwardedFor = trustProxy.length === 0 ? null : c.req.raw.headers.get('x-forwarded-for');
    return networkOf(addressOf(incoming?.socket?.remoteAddress ?? '', forwardedFor));
  };
};

/** A network as a keyed hash, good for counting only; the key lives in memory for a day. */
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
 * 24 bits of the hash: enough to tell the senders on a list apart, and too few to say who one was, since each number stands
 * for 256 IPv4 addresses even to somebody who has the key.
 */
export const senderNumber = (networkHash: string): number => Buffer.from(networkHash, 'base64').readUIntBE(0, 3);

/** The client's network, hashed. */
export const createAddressOf = (trustProxy: readonly string[], clock?: () => number): AddressOf => {
  const networkOf = createNetworkOf(trustProxy);
  const hashOf = createNetworkHash(clock);
  return (c) => hashOf(networkOf(c));
};
