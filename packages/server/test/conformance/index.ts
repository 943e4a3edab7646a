// Tests what every store must do, through the Store interface only. Each driver runs this suite unchanged.
import { describe } from 'vitest';
import { describeAccountDeletion } from './accounts/account-deletion.ts';
import { describeAccounts } from './accounts/accounts.ts';
import { describeAudiences } from './accounts/audiences.ts';
import { describeAudit } from './accounts/audit.ts';
import { describeCatalogues } from './accounts/catalogues.ts';
import { describeEntryMerges } from './accounts/entry-merges.ts';
import { describeExpiry } from './accounts/expiry.ts';
import { describeGoals } from './accounts/goals.ts';
import { describeMembers } from './accounts/members.ts';
import { describeNotes } from './accounts/notes.ts';
import { describeNotifications } from './accounts/notifications.ts';
import { describePasskeys } from './accounts/passkeys.ts';
import { describeSegments } from './accounts/segments.ts';
import { describeShareLinks } from './accounts/share-links.ts';
import { describeTokens } from './accounts/tokens.ts';
import { describeViews } from './accounts/views.ts';
import { describeWebhooks } from './accounts/webhooks.ts';
import { describeClaims } from './claims.ts';
import { describeCommits } from './commits.ts';
import { describeConcurrency } from './concurrency.ts';
import { describeContactSearch } from './contact-search.ts';
import { describeContacts } from './contacts.ts';
import { describeCounts } from './counts.ts';
import { describeDuplicates } from './duplicates.ts';
import { describeErasures } from './erasures.ts';
import { describeEventNames } from './event-names.ts';
import { describeEventPages } from './event-pages.ts';
import { describeEvents } from './events.ts';
import { describeExports } from './exports.ts';
import { describeImportedContacts } from './imported-contacts.ts';
import { describeImports } from './imports.ts';
import { describeIsolation } from './isolation.ts';
import { describeExternalIDs } from './keys/external-ids.ts';
import { describeKeyLimits } from './keys/key-limits.ts';
import { describeKeyProperties } from './keys/key-properties.ts';
import { describeDisplacedLinks } from './links/displaced-links.ts';
import { describeLinks } from './links/links.ts';
import { describeManyLinks, describeManyLinksToContact } from './links/many-links.ts';
import { describeMerges } from './merges.ts';
import { describeRefusedRequests } from './refused-requests.ts';
import { describeReportFeed } from './report-feed.ts';
import { describeRetention } from './retention.ts';
import { describeScale } from './scale.ts';
import { type Open, useSites } from './sites.ts';

const suites = [
  describeAccounts,
  describeAccountDeletion,
  describeTokens,
  describeMembers,
  describePasskeys,
  describeAudit,
  describeCatalogues,
  describeEntryMerges,
  describeSegments,
  describeViews,
  describeGoals,
  describeNotes,
  describeShareLinks,
  describeWebhooks,
  describeAudiences,
  describeNotifications,
  describeExpiry,
  describeEvents,
  describeEventNames,
  describeDuplicates,
  describeEventPages,
  describeCounts,
  describeContacts,
  describeContactSearch,
  describeClaims,
  describeExternalIDs,
  describeKeyLimits,
  describeKeyProperties,
  describeLinks,
  describeDisplacedLinks,
  describeManyLinks,
  describeMerges,
  describeErasures,
  describeRefusedRequests,
  describeReportFeed,
  describeExports,
  describeImports,
  describeImportedContacts,
  describeRetention,
  describeIsolation,
  describeConcurrency,
  describeCommits,
];

/** The suites that take a fifth of the total time in memory. `npm test` leaves them to the other tiers. */
const largeSuites = [describeManyLinksToContact, describeScale];

/**
 * Declares the tests. `open` returns a new, empty store, which is closed after use; `start` returns an account's
 * creation time. Most tests share one store, each with its own account, because opening a store can be slow.
 * `isComplete: false` leaves out the large suites.
 */
export const describeStore = (
  name: string,
  open: Open,
  { start, isComplete = true }: { start?: () => number; isComplete?: boolean } = {},
): void => {
  describe(name, () => {
    const newSite = useSites(open, start);
    for (const describeSuite of [...suites, ...(isComplete ? largeSuites : [])]) describeSuite(newSite, open);
  });
};
