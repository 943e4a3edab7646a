/** An account's own sites, whose pages don't count as referrers. */
import { listOriginHosts } from '@firsthand/contract/origins';
import type { OwnSites } from '../../../reports/queries.ts';

/**
 * The visitor's own machine, for pages in development (RFC 6761 section 6.3, RFC 1122 section 3.2.1.3, RFC 4291 section
 * 2.5.3).
 */
const localhost: OwnSites = { hosts: ['localhost', '127.0.0.1', '[::1]'], suffixes: ['.localhost'] };

/** Returns the hosts in `accountOrigin`, and localhost. */
export const ownSitesOf = (accountOrigin: readonly string[]): OwnSites => {
  const { hosts, suffixes } = listOriginHosts(accountOrigin);
  return { hosts: [...hosts, ...localhost.hosts], suffixes: [...suffixes, ...localhost.suffixes] };
};
