/** The sites of an account, whose pages are no referrers in any report. */
import { originHosts } from '@firsthand/contract/origins';
import type { OwnSites } from '../../../reports/questions.ts';

/** The names of the visitor's own machine (RFC 6761 section 6.3, RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3): a page of it is being developed. */
const ownMachine: OwnSites = { hosts: ['localhost', '127.0.0.1', '[::1]'], suffixes: ['.localhost'] };

/** The hosts that `accountOrigin` names, and this machine. */
export const ownSitesOf = (accountOrigin: readonly string[]): OwnSites => {
  const { hosts, suffixes } = originHosts(accountOrigin);
  return { hosts: [...hosts, ...ownMachine.hosts], suffixes: [...suffixes, ...ownMachine.suffixes] };
};
