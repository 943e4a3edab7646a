/** Creates each operation's handler and its reply to a request. */
import type { OperationName } from '@firsthand/contract/operations';
import type { Logger } from 'pino';
import type { Reports } from '../../reports/queries.ts';
import type { Store } from '../../store/store.ts';
import { createNewNameLimit } from '../access/new-names.ts';
import type { Quota } from '../access/quota.ts';
import { createRateLimit, type RateLimits } from '../access/rate-limits.ts';
import type { RefusedPages } from '../access/refused-pages.ts';
import { createCSVReply } from '../csv/csv-reply.ts';
import { createReplies, type Reply } from '../operation-route.ts';
import type { CountryOf } from '../request/country.ts';
import type { Traffic } from '../traffic.ts';
import type { Sender } from '../webhooks/send.ts';
import { createAccounts } from './accounts/accounts.ts';
import { createAudit } from './accounts/audit.ts';
import { createEntryMergeOperations } from './accounts/entry-merges.ts';
import { createMembers } from './accounts/members.ts';
import { createRefused } from './accounts/refused.ts';
import { createService, type ServiceFacts } from './accounts/service.ts';
import { createTokens } from './accounts/tokens.ts';
import { createContactBatches } from './contact-batch.ts';
import { createContacts } from './contacts.ts';
import { createEvents } from './events.ts';
import { createHandovers } from './handovers.ts';
import { createImportContacts } from './import-contacts.ts';
import { createImports } from './imports.ts';
import { createLinks } from './links.ts';
import { createLogEvent, createLogEventReply, createLogEventsReply } from './log-event.ts';
import { createNotifications } from './notifications.ts';
import { createGoals } from './reports/goals.ts';
import { createNotes } from './reports/notes.ts';
import { createReports } from './reports/reports.ts';
import { createSegments } from './reports/segments.ts';
import { createShareLinks } from './reports/share-links.ts';
import { createViews } from './reports/views.ts';
import { createSearchContact } from './search-contact.ts';
import { createStreamReply } from './stream.ts';
import { createWebhooks } from './webhooks.ts';

interface Dependencies {
  readonly store: Store;
  readonly log: Logger;
  readonly rateLimits: Pick<RateLimits, 'newNames'>;
  readonly reports: Reports | undefined;
  readonly quota: Quota | undefined;
  readonly sender: Sender;
  /** Whether the server can send mails. */
  readonly mail: boolean;
  readonly traffic: Traffic;
  readonly countryOf: CountryOf | undefined;
  readonly serviceFacts: ServiceFacts;
  readonly refusedPages: RefusedPages;
  readonly isStopping: () => boolean;
}

export const createOperationReplies = ({
  store,
  log,
  rateLimits,
  reports,
  quota,
  sender,
  mail,
  traffic,
  countryOf,
  serviceFacts,
  refusedPages,
  isStopping,
}: Dependencies) => {
  const logging = createLogEvent(store, { limitNewNames: createNewNameLimit(createRateLimit(rateLimits.newNames)) });
  const { handlers: reportHandlers, check: checkReport, contactReports } = createReports(store, reports);
  const handlers = {
    ...createAccounts(store, quota?.accountBytes),
    ...createTokens(store),
    ...createEntryMergeOperations(store),
    ...createMembers(store),
    ...createService(store, { facts: serviceFacts, refusedPages }),
    ...createRefused(store),
    ...createAudit(store),
    ...createContacts(store),
    ...createSearchContact(store, contactReports),
    ...createContactBatches(store),
    ...createLinks(store),
    ...createImports(store, { traffic, countryOf }),
    ...createImportContacts(store),
    ...reportHandlers,
    ...createSegments(store),
    ...createViews(store),
    ...createGoals(store),
    ...createNotes(store),
    ...createShareLinks(store, checkReport),
    ...createWebhooks(store, sender),
    ...createNotifications(store, checkReport, { mail }),
    ...createEvents(store),
    ...logging,
  };
  const replies: { readonly [Name in OperationName]: Reply<Name> } = {
    ...createReplies(handlers, createCSVReply({ store, log, isStopping })),
    logEvent: createLogEventReply(logging.logEvent, traffic),
    logEvents: createLogEventsReply(logging.logEvents, traffic),
    ...createHandovers(store),
    streamEvents: createStreamReply({ store, log, isStopping, numbers: traffic.numbers }),
  };
  return { handlers, replies };
};
export type OperationHandlers = ReturnType<typeof createOperationReplies>['handlers'];
/** The operations that other routes can call directly. */
export type HandledOperation = keyof OperationHandlers;
