/** Which IP addresses webhooks may connect to: public ones (IANA special-purpose registries), and configured networks. */
import { BlockList, isIP } from 'node:net';

const toBlockList = (networks: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
};

const specialIPv4 = toBlockList([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
  // The metadata service of Azure.
  '168.63.129.16',
]);
/** Everything else is special, such as ::1, fc00::/7, fe80::/10, ::ffff:0:0/96 (IPv4) and 64:ff9b::/96 (NAT64). */
const globalIPv6 = toBlockList(['2000::/3']);
/** Teredo and other protocol assignments, documentation, and 6to4. */
const specialIPv6 = toBlockList(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);

const isPublicAddress = (address: string): boolean => {
  const family = isIP(address);
  if (family === 4) return !specialIPv4.check(address, 'ipv4');
  return family === 6 && globalIPv6.check(address, 'ipv6') && !specialIPv6.check(address, 'ipv6');
};

export interface AddressRules {
  /** Whether an address is in a configured network. */
  readonly isConfigured: (address: string) => boolean;
  /** Whether a webhook may connect to an address: with TLS also to public addresses. */
  readonly mayConnect: (address: string, hasTLS: boolean) => boolean;
}

/** `allow`: IP addresses and networks, as in WEBHOOK_ALLOW. */
export const createAddressRules = (allow: readonly string[]): AddressRules => {
  const configured = toBlockList(allow);
  const isConfigured = (address: string) => configured.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return {
    isConfigured,
    mayConnect: (address, hasTLS) => isConfigured(address) || (hasTLS && isPublicAddress(address)),
  };
};
