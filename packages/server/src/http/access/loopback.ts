/** Checks whether a request comes from a browser on this machine. */
import type { Context } from 'hono';
import { bindingsOf, createNetworkMatcher } from './client-address.ts';

const isLoopbackAddress = createNetworkMatcher(['127.0.0.0/8', '::1']);

/**
 * Whether a Host header (RFC 9110 section 7.2) refers to this machine, as `localhost` and its subdomains do (RFC 6761
 * section 6.3).
 */
export const isLoopbackName = (host: string): boolean => {
  const name = host
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127\.\d+\.\d+\.\d+$/.test(name);
};

/** Whether the Host header refers to this machine and no proxy forwarded the request. */
export const namesThisMachine = (headers: { get(name: string): string | null }): boolean =>
  isLoopbackName(headers.get('host') ?? '') &&
  ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via'].every((name) => !headers.get(name));

/**
 * Whether a connection comes directly from this machine, with a Host header that refers to this machine. After DNS
 * rebinding, the browser sends the attacker's name as Host and fails this check.
 */
export const isLocalVisitor = ({
  remoteAddress,
  headers,
}: {
  remoteAddress: string | undefined;
  headers: { get(name: string): string | null };
}): boolean =>
  remoteAddress !== undefined &&
  isLoopbackAddress(remoteAddress) &&
  namesThisMachine(headers) &&
  ['same-origin', 'none'].includes(headers.get('sec-fetch-site') ?? 'none');

export const isLocal = (c: Context): boolean =>
  isLocalVisitor({ remoteAddress: bindingsOf(c).incoming?.socket?.remoteAddress, headers: c.req.raw.headers });
