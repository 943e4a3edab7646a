/** A warning for a service behind a proxy that it was not told of: all visitors count as one address, and share its rate limit. */
import { BlockList, isIP } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import { bare } from './client-address.ts';

/** Loopback, private use, shared and link-local addresses (RFC 6890, RFC 4193): no visitor from the internet has one. */
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

/** To be called with each request that counts against a rate limit. It logs one line, once. */
export const createProxyNotice = (trustProxy: readonly string[], log: Logger): ((c: Context) => void) => {
  if (trustProxy.length > 0) return () => {};
  const isPrivate = createIsPrivate();
  let isNoticed = false;
  return (c) => {
    if (isNoticed) return;
    const { headers } = c.req.raw;
    if (headers.get('x-forwarded-for') === null && headers.get('forwarded') === null) return;
    const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
    if (!isPrivate(bare(incoming?.socket?.remoteAddress ?? ''))) return;
    isNoticed = true;
    log.warn(
      'a proxy on a private address forwards requests, and TRUST_PROXY is not set: all its visitors share one rate limit. ' +
        "Set TRUST_PROXY to the proxy's address, such as 127.0.0.1",
    );
  };
};
