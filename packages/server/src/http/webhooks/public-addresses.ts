/** Which IP addresses webhooks may connect to: public ones (IANA special-purpose registries), and configured networks. */
import { isIP } from 'node:net';
import { createNetworkMatcher } from '../access/client-address.ts';

const isSpecialIPv4 = createNetworkMatcher([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
  // Azure's metadata service.
  '168.63.129.16',
]);
/** Everything else is special, such as ::1, fc00::/7, fe80::/10, ::ffff:0:0/96 (IPv4) and 64:ff9b::/96 (NAT64). */
const isGlobalIPv6 = createNetworkMatcher(['2000::/3']);
/** Teredo and other protocol assignments, documentation, and 6to4. */
const isSpecialIPv6 = createNetworkMatcher(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);

const isPublicAddress = (address: string): boolean => {
  const family = isIP(address);
  if (family === 4) return !isSpecialIPv4(address);
  return family === 6 && isGlobalIPv6(address) && !isSpecialIPv6(address);
};

/**
 * Returns a function that checks whether a webhook may connect to an address: with TLS to public addresses, and always
 * to the IP addresses and networks in `allow`, the setting WEBHOOK_ALLOW.
 */
export const createConnectionCheck = (allow: readonly string[]) => {
  const isAllowed = createNetworkMatcher(allow);
  return (address: string, hasTLS: boolean): boolean => isAllowed(address) || (hasTLS && isPublicAddress(address));
};
