/** The HTTP application: creates its parts and adds the routes. */
import type { Socket } from 'node:net';
import { pageNames } from '@firsthand/contract/identifiers';
import { nearestName } from '@firsthand/contract/near-miss';
import { type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import { Hono } from 'hono';
import type { Logger } from 'pino';
import type { Reports } from '../reports/questions.ts';
import type { Store } from '../store/store.ts';
import { createCallerAuthentication } from './access/authenticate-caller.ts';
import { createAuthentication } from './access/authentication.ts';
import { bindingsOf, createAddressOf, createRequestAddress, senderNumber } from './access/client-address.ts';
import { createNewNames } from './access/new-names.ts';
import { createProxyNotice } from './access/proxy-notice.ts';
import type { Quota } from './access/quota.ts';
import { createBrowserLimits, createRateLimit, type RateLimits } from './access/rate-limits.ts';
import { createRefusalBudget } from './access/refusal-budget.ts';
import { createRefusedPages } from './access/refused-pages.ts';
import { createTokenUse, type TokenUse } from './access/token-use.ts';
import { createFindValidToken } from './access/valid-token.ts';
import { createInvitations } from './console/invitations.ts';
import { createMemberPasswords } from './console/member-passwords.ts';
import { consoleRoutes, readConsolePage } from './console/pages.ts';
import { challengeRate, createPasskeys } from './console/passkeys/passkeys.ts';
import { additionRate } from './console/passkeys/routes.ts';
import { createPasswords, type Passwords } from './console/passwords.ts';
import { createConsoleAnswers, type SampleShop } from './console/routes.ts';
import { createSessions, signInRate } from './console/sessions.ts';
import { createSharedRoutes, toSharedPage } from './console/share-links/routes.ts';
import { createSharedReports, shareRate } from './console/share-links/shared-reports.ts';
import { createSignIn } from './console/sign-in.ts';
import { createSignInCodes, type SignInCodes } from './console/sign-in-codes.ts';
import { createCSVReply } from './csv/csv-reply.ts';
import { type DocsFiles, docsRoutes } from './docs.ts';
import { healthRoute, readinessRoute } from './health.ts';
import { createHasToken, type MetricsAccess, metricsRoute } from './metrics.ts';
import { isForScript, missingScriptRoute } from './missing-script.ts';
import { documentRoute } from './openapi-document.ts';
import { createOperationRoute, createReplies, type Reply } from './operation-route.ts';
import { createAccounts } from './operations/accounts/accounts.ts';
import { createAudit } from './operations/accounts/audit.ts';
import { createEntryMergeOperations } from './operations/accounts/entry-merges.ts';
import { createMembers } from './operations/accounts/members.ts';
import { createRefused } from './operations/accounts/refused.ts';
import { createService, noFacts, type ServiceFacts } from './operations/accounts/service.ts';
import { createTokens } from './operations/accounts/tokens.ts';
import { createContactBatches } from './operations/contact-batch.ts';
import { createContacts } from './operations/contacts.ts';
import { createEvents } from './operations/events.ts';
import { createHandovers } from './operations/handovers.ts';
import { createLinks } from './operations/links.ts';
import { createLogEvent, createLogEventReply, createLogEventsReply } from './operations/log-event.ts';
import { createReports } from './operations/reports/reports.ts';
import { createSegments } from './operations/reports/segments.ts';
import { createShareLinks } from './operations/reports/share-links.ts';
import { createViews } from './operations/reports/views.ts';
import { createSearchContact } from './operations/search-contact.ts';
import { createStreamReply } from './operations/stream.ts';
import { createAdmission } from './request/admission.ts';
import { createAgentOf } from './request/agents.ts';
import { type CountrySources, createCountryOf } from './request/country.ts';
import { createParsingBudget } from './request/parsing-budget.ts';
import { createErrorResponder, createRouteServer, type Route } from './routes.ts';
import { folderOf, type PagePaths } from './script-tag.ts';
import { securityTextPath, securityTextRoute } from './security-text.ts';
import { createSegmentRoutes } from './segment/routes.ts';
import { trackerRoutes } from './tracker-script.ts';
import { createTraffic, type Traffic } from './traffic.ts';

export interface AppOptions extends CountrySources {
  readonly store: Store;
  readonly log: Logger;
  /** The prefix of all paths: `/`, or `/x/`. */
  readonly basePath: string;
  /** The paths that pages use: by default `/main.js`, which sends to its own folder. */
  readonly paths?: PagePaths;
  /** The path of Segment's HTTP API: `/v1/`; not served if absent. */
  readonly segmentPath?: string | undefined;
  /** Addresses or CIDR blocks of trusted proxies. If empty, X-Forwarded-For is ignored. */
  readonly trustProxy: readonly string[];
  readonly rateLimits: RateLimits;
  /** The report engine. If absent, reports are refused. */
  readonly reports?: Reports | undefined;
  /** The storage quota of each account; no limit if absent. */
  readonly quota?: Quota | undefined;
  /** Called when a valid token has arrived on a connection. */
  readonly vouch?: (socket: Socket) => void;
  /** Records token uses. If absent, uses in the last 30 s are lost when the server stops. */
  readonly tokenUse?: Pick<TokenUse, 'note'>;
  /** The build folders of the tracker and the console, and the documentation. Absent folders are not served. */
  readonly files: { readonly tracker?: string; readonly console?: string; readonly docs?: DocsFiles };
  /** Counts requests and responses. */
  readonly traffic?: Traffic;
  /** Access to /metrics, which is not served if absent. */
  readonly metrics?: MetricsAccess | undefined;
  /** The console's origin; absent if only this machine may use it. */
  readonly consoleOrigin?: string | undefined;
  /** The codes of one-time links to the console. */
  readonly signInCodes?: SignInCodes;
  /** Hashes the passwords of members. */
  readonly passwords?: Passwords;
  /** The sample shop, for trying out the server; not offered if absent. */
  readonly sampleShop?: SampleShop | undefined;
  /** The settings that getService returns. */
  readonly serviceFacts?: ServiceFacts | undefined;
  /** A URI for /.well-known/security.txt, which is not served if absent. */
  readonly securityContact?: string | undefined;
  /** The current time, in milliseconds since 1970. */
  readonly now?: () => number;
  /** Whether the server is stopping. If so, streams end, /readyz returns 503, and no response is delayed. */
  readonly isStopping?: () => boolean;
}

export const createApp = ({
  store,
  log,
  basePath,
  paths = { trackerPath: '/main.js' },
  segmentPath,
  trustProxy,
  rateLimits,
  reports,
  quota,
  countryOf,
  countryHeader,
  vouch,
  files,
  now = Date.now,
  tokenUse = createTokenUse(store, now),
  isStopping = () => false,
  traffic = createTraffic(),
  metrics,
  consoleOrigin,
  signInCodes = createSignInCodes(),
  sampleShop,
  passwords = createPasswords(),
  securityContact,
  serviceFacts = noFacts,
}: AppOptions): Hono => {
  const addressOf = createAddressOf(trustProxy);
  const prefixOf = createAddressOf(trustProxy, { bits: 48 });
  const authenticate = createAuthentication({
    store,
    addressOf,
    unknownTokens: createRateLimit(rateLimits.unknownToken),
    noteUse: tokenUse.note,
    noteAuthenticated: (c) => {
      const { incoming } = bindingsOf(c);
      if (incoming?.socket) vouch?.(incoming.socket);
    },
    now,
  });
  const findValidToken = createFindValidToken(authenticate);
  const spendRefusal = createRefusalBudget({
    findValidToken,
    addressOf,
    trustProxy,
    rate: rateLimits.unprovenRequests,
    isStopping,
  });
  const reading = {
    admit: createAdmission(),
    authenticate,
    budgetOf: createParsingBudget(findValidToken, addressOf, rateLimits),
    now,
  };
  const requestAddress = createRequestAddress(trustProxy);
  const agentOf = createAgentOf(createCountryOf({ countryOf, countryHeader, trustProxy }));
  const refusedPages = createRefusedPages();
  const accepting = {
    ...reading,
    authenticateCaller: createCallerAuthentication({
      authenticate,
      senderOf: (c) => senderNumber(addressOf(c)),
      networkOf: prefixOf,
      agentOf,
      refusedPages,
    }),
    takeBrowserLimits: createBrowserLimits(rateLimits, addressOf),
    noticeProxy: createProxyNotice(trustProxy, log, store, now),
    isOverQuota: (account: number) => quota?.isOver(account) === true,
    addRefused: store.addRefused,
  };
  const operationRoute = createOperationRoute(accepting);
  const passkeys = createPasskeys({
    ...reading,
    store,
    addressOf,
    challengeLimit: createRateLimit(challengeRate),
    agentOf,
  });
  const memberPasswords = createMemberPasswords({ store, addressOf, prefixOf, requestAddress, passwords, now });
  const console = createConsoleAnswers({
    ...reading,
    store,
    passkeys,
    passkeyAdditions: createRateLimit(additionRate),
    signIn: createSignIn({ authenticate, codes: signInCodes, consoleOrigin, memberPasswords, passkeys }),
    memberPasswords,
    invitations: createInvitations({
      ...{ store, addressOf, memberPasswords, passkeys, now },
      unknownCodes: createRateLimit(rateLimits.unknownToken),
    }),
    sessions: createSessions({ ...reading, store, signIns: createRateLimit(signInRate) }),
    consoleOrigin,
    sampleShop,
  });

  const logging = createLogEvent(store, { limitNewNames: createNewNames(createRateLimit(rateLimits.newNames)) });
  const contacts = createContacts(store);
  const { answering: reportAnswers, check: checkReport, contactReports } = createReports(store, reports);
  const replies: { readonly [Name in OperationName]: Reply<Name> } = {
    ...createReplies(
      {
        ...createAccounts(store, quota?.accountBytes),
        ...createTokens(store),
        ...createEntryMergeOperations(store),
        ...createMembers(store),
        ...createService(store, { facts: serviceFacts, refusedPages }),
        ...createRefused(store),
        ...createAudit(store),
        ...contacts,
        ...createSearchContact(store, contactReports),
        ...createContactBatches(store),
        ...createLinks(store),
        ...reportAnswers,
        ...createSegments(store),
        ...createViews(store),
        ...createShareLinks(store, checkReport),
        ...createEvents(store),
        ...logging,
      },
      createCSVReply({ store, log, isStopping }),
    ),
    logEvent: createLogEventReply(logging.logEvent, traffic),
    logEvents: createLogEventsReply(logging.logEvents, traffic),
    ...createHandovers(store),
    streamEvents: createStreamReply({ store, log, isStopping, numbers: traffic.numbers }),
  };

  const sharedViews = createSharedRoutes({
    ...reading,
    store,
    addressOf,
    shared: createSharedReports({
      store,
      answering: reportAnswers,
      unknownSecrets: createRateLimit(rateLimits.unknownToken),
      requestsOfAddress: createRateLimit(shareRate),
      now,
    }),
    page: files.console === undefined ? undefined : toSharedPage(readConsolePage(files.console)),
  });

  const { trackerPath, apiPrefix = '/' } = paths;
  const app = new Hono();
  const base = basePath.replace(/\/$/, '');
  const { serve, notFound } = createRouteServer(log, spendRefusal, traffic);
  const add = (path: string, route: Route) => app.all(base + path, serve(route));
  // In addition to the root, which stays valid because pages with an older tag keep sending there.
  const pageFolders = [folderOf(trackerPath), apiPrefix];
  const addOperation = <Name extends OperationName>(name: Name) => {
    const pageName = (pageNames as Partial<Record<OperationName, string>>)[name];
    const pagePaths = pageName === undefined ? [] : pageFolders.map((folder) => folder + pageName);
    const route = operationRoute(name, replies[name]);
    for (const path of new Set([...operations[name].paths, ...pagePaths])) add(path, route);
  };

  operationNames.forEach(addOperation);
  if (segmentPath !== undefined) {
    const segmentRoutes = createSegmentRoutes({
      ...accepting,
      store,
      answering: { logEvents: logging.logEvents, createContact: contacts.createContact },
      countryOf,
      traffic,
      folder: segmentPath,
      places: [...new Set(['/', apiPrefix])],
      consoleHost: consoleOrigin && new URL(consoleOrigin).host,
      base,
    });
    for (const { path, route } of segmentRoutes) add(path, route);
  }
  add('/healthz', healthRoute);
  add('/readyz', readinessRoute(store, isStopping));
  add('/openapi.json', documentRoute(base));
  if (files.tracker !== undefined) {
    for (const { path, route } of trackerRoutes(files.tracker, trackerPath)) add(path, route);
  }
  if (securityContact !== undefined) app.all(securityTextPath, serve(securityTextRoute(securityContact, now)));
  if (files.docs !== undefined) {
    for (const { path, route } of docsRoutes(files.docs, paths)) add(path, route);
  }
  for (const { path, route } of [...console, ...sharedViews]) add(path, route);
  if (files.console !== undefined) {
    for (const { path, route } of consoleRoutes(files.console, paths)) add(path, route);
  }
  if (metrics !== undefined) {
    const serveMetrics = serve(metricsRoute(metrics));
    const isAllowed = createHasToken(metrics.token);
    // Without the token, the path does not exist for any method.
    app.all(`${base}/metrics`, (c, next) => (isAllowed(c.req.raw.headers) ? serveMetrics(c, next) : notFound(c)));
  }
  const serveMissingScript = files.tracker === undefined ? undefined : serve(missingScriptRoute(base, paths));
  app.notFound((c) => {
    const { method, path } = c.req;
    if (serveMissingScript && isForScript(method, path)) return serveMissingScript(c, async () => {});
    const meant = nearestName(path.slice(path.lastIndexOf('/') + 1), operationNames);
    return notFound(c, meant && base + operations[meant as OperationName].paths[0]);
  });
  app.onError(createErrorResponder(log));
  return app;
};
