/** Is it somebody at this very machine who asks? */
import { BlockList, isIPv6 } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');
loopback.addSubnet('::ffff:127.0.0.0', 104, 'ipv6');

const isLoopbackAddress = (address: string): boolean => loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

/** Without its port, RFC 9110 section 7.2. `localhost` and names below it never leave the machine (RFC 6761 section 6.3). */
const isLoopbackName = (host: string): boolean => {
  const name = host
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127\.\d+\.\d+\.\d+$/.test(name);
};

/**
 * True only for a connection from this machine that no proxy has passed on, and that was opened under a name which
 * means this machine: a site that lets its own name point here (DNS rebinding) sends that name as Host.
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
  isLoopbackName(headers.get('host') ?? '') &&
  ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via'].every((name) => !headers.get(name)) &&
  ['same-origin', 'none'].includes(headers.get('sec-fetch-site') ?? 'none');
