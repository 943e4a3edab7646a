/** The HTTP application: makes its parts, and adds the route of each path. */
import type { Socket } from 'node:net';
import { pageNames } from '@firsthand/contract/identifiers';
import { nearestName } from '@firsthand/contract/near-miss';
import { type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import { Hono } from 'hono';
import type { Logger } from 'pino';
import { createAuthentication } from './http/access/authentication.ts';
import { bindingsOf, createAddressOf, createRequestAddress, senderNumber } from './http/access/client-address.ts';
import { createFindGood } from './http/access/good-token.ts';
import { createNewNames } from './http/access/new-names.ts';
import { createProxyNotice } from './http/access/proxy-notice.ts';
import { createBrowserLimits, createRateLimit, type RateLimits } from './http/access/rate-limits.ts';
import { createRefusalBudget } from './http/access/refusal-budget.ts';
import { createRefusedOrigins } from './http/access/refused-origins.ts';
import { createTokenUse, type TokenUse } from './http/access/token-use.ts';
import { consoleRoutes, readConsolePage } from './http/console/pages.ts';
import { challengeRate, createPasskeys } from './http/console/passkeys/passkeys.ts';
import { additionRate } from './http/console/passkeys/routes.ts';
import { createPasswords, type Passwords } from './http/console/passwords.ts';
import { createConsoleAnswers, type SampleShop } from './http/console/routes.ts';
import { createSessions, signInRate } from './http/console/sessions.ts';
import { createSharedRoutes, toSharedPage } from './http/console/shared/routes.ts';
import { createSharedReports, shareRate } from './http/console/shared/shared-reports.ts';
import { createSignIn, passwordRates } from './http/console/sign-in.ts';
import { createSignInCodes, type SignInCodes } from './http/console/sign-in-codes.ts';
import { createCSVReply } from './http/csv/csv-reply.ts';
import { type DocsFiles, docsRoutes } from './http/docs.ts';
import { documentRoute } from './http/document.ts';
import { healthRoute, readinessRoute } from './http/health.ts';
import { createHasToken, type MetricsAccess, metricsRoute } from './http/metrics.ts';
import { isForScript, missingScriptRoute } from './http/missing-script.ts';
import { createOperationRoute, createReplies, type Reply } from './http/operation-route.ts';
import { createAccounts } from './http/operations/accounts/accounts.ts';
import { createAudit } from './http/operations/accounts/audit.ts';
import { createEntryMergeAnswers } from './http/operations/accounts/entry-merges.ts';
import { createMembers } from './http/operations/accounts/members.ts';
import { createRefused } from './http/operations/accounts/refused.ts';
import { createService, noFacts, type ServiceFacts } from './http/operations/accounts/service.ts';
import { createTokens } from './http/operations/accounts/tokens.ts';
import { createContactBatches } from './http/operations/contact-batch.ts';
import { createContacts } from './http/operations/contacts.ts';
import { createEvents } from './http/operations/events.ts';
import { createHandovers } from './http/operations/handovers.ts';
import { createLinks } from './http/operations/links.ts';
import { createLogEventReply } from './http/operations/log-event-reply.ts';
import { createReports } from './http/operations/reports/reports.ts';
import { createSegments } from './http/operations/reports/segments.ts';
import { createShareLinks } from './http/operations/reports/share-links.ts';
import { createViews } from './http/operations/reports/views.ts';
import { createStreamReply } from './http/operations/stream.ts';
import { createLogEventsReply } from './http/operations/user-cookie.ts';
import { createAdmission } from './http/request/admission.ts';
import { createAgentOf } from './http/request/agents.ts';
import { type CountrySources, createCountryOf } from './http/request/country.ts';
import { createParsingBudget } from './http/request/parsing-budget.ts';
import { createFailed, createRouteServer, type Route } from './http/routes.ts';
import { securityTextPath, securityTextRoute } from './http/security-text.ts';
import { trackerRoutes } from './http/tracker-script.ts';
import type { Quota } from './quota.ts';
import type { Reports } from './reports/questions.ts';
import { folderOf, type PagePaths } from './script-tag.ts';
import type { Store } from './store/store.ts';
import { createTraffic, type Traffic } from './traffic.ts';

export interface AppOptions extends CountrySources {
  readonly store: Store;
  readonly log: Logger;
  /** The prefix of all paths: `/`, or `/x/`. */
  readonly basePath: string;
  /** The paths that pages use. `/main.js` if absent, and beside it the paths that it sends to. */
  readonly paths?: PagePaths;
  /** Addresses or CIDR blocks of the proxies whose X-Forwarded-For is trusted. If empty, it is ignored. */
  readonly trustProxy: readonly string[];
  readonly rateLimits: RateLimits;
  /** Answers reports, which are refused if it is absent. */
  readonly reports?: Reports | undefined;
  /** The quota of what each account stores; no limit if absent. */
  readonly quota?: Quota | undefined;
  /** Called when a good token has arrived over a connection. */
  readonly vouch?: (socket: Socket) => void;
  /** Notes the uses of tokens. If absent, those of the last 30 s are lost when the server stops. */
  readonly tokenUse?: Pick<TokenUse, 'note'>;
  /** `tracker` and `console`: the folders that these were built into. `docs`: the documentation. What is absent is not served. */
  readonly files: { readonly tracker?: string; readonly console?: string; readonly docs?: DocsFiles };
  /** Counts what is asked and answered. */
  readonly traffic?: Traffic;
  /** Serves /metrics to requests with this token; to no others if absent. */
  readonly metrics?: MetricsAccess | undefined;
  /** The origin of the console, where it is not this machine's. */
  readonly consoleOrigin?: string | undefined;
  /** The codes of one-time links to the console. */
  readonly signInCodes?: SignInCodes;
  /** Hashes the passwords of members. */
  readonly passwords?: Passwords;
  /** The sample shop, where somebody tries the server out; nobody is offered it if absent. */
  readonly sampleShop?: SampleShop | undefined;
  /** What getService says of the settings. */
  readonly serviceFacts?: ServiceFacts | undefined;
  /** A URI for /.well-known/security.txt, which is not served if absent. */
  readonly securityContact?: string | undefined;
  /** The time of day, in milliseconds since 1970. */
  readonly now?: () => number;
  /** Whether the server is stopping. If so, streams end, /readyz reports 503, and no response is delayed. */
  readonly isStopping?: () => boolean;
}

export const createApp = ({
  store,
  log,
  basePath,
  paths = { trackerPath: '/main.js' },
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
    noteGood: (c) => {
      const { incoming } = bindingsOf(c);
      if (incoming?.socket) vouch?.(incoming.socket);
    },
    now,
  });
  const findGood = createFindGood(authenticate);
  const spendRefusal = createRefusalBudget({
    findGood,
    addressOf,
    trustProxy,
    rate: rateLimits.unprovenRequests,
    isStopping,
  });
  const reading = {
    admit: createAdmission(),
    authenticate,
    budgetOf: createParsingBudget(findGood, addressOf, rateLimits),
    now,
  };
  const requestAddress = createRequestAddress(trustProxy);
  const agentOf = createAgentOf(createCountryOf({ countryOf, countryHeader, trustProxy }));
  const refusedOrigins = createRefusedOrigins();
  const operationRoute = createOperationRoute({
    ...reading,
    takeBrowserLimits: createBrowserLimits(rateLimits, addressOf),
    noticeProxy: createProxyNotice(trustProxy, log, store, now),
    senderOf: (c) => senderNumber(addressOf(c)),
    networkOf: prefixOf,
    agentOf,
    isOverQuota: (account) => quota?.isOver(account) === true,
    keepRefused: store.keepRefused,
    refusedOrigins,
  });
  const passkeys = createPasskeys({
    ...reading,
    store,
    addressOf,
    challengeLimit: createRateLimit(challengeRate),
    agentOf,
  });
  const console = createConsoleAnswers({
    ...reading,
    store,
    passkeys,
    passkeyAdditions: createRateLimit(additionRate),
    signIn: createSignIn({
      ...reading,
      store,
      addressOf,
      prefixOf,
      requestAddress,
      codes: signInCodes,
      consoleOrigin,
      passwords,
      passkeys,
      passwordLimits: {
        all: createRateLimit(passwordRates.all),
        failed: createRateLimit(passwordRates.failed),
        allOfPrefix: createRateLimit(passwordRates.allOfPrefix),
        failedOfEmailaddress: createRateLimit(passwordRates.failedOfEmailaddress),
      },
      unknownCodes: createRateLimit(rateLimits.unknownToken),
    }),
    sessions: createSessions({ ...reading, store, signIns: createRateLimit(signInRate) }),
    consoleOrigin,
    sampleShop,
  });

  const events = createEvents(store, { limitNewNames: createNewNames(createRateLimit(rateLimits.newNames)) });
  const { answering: reportAnswers, check: checkReport } = createReports(store, reports);
  const replies: { readonly [Name in OperationName]: Reply<Name> } = {
    ...createReplies(
      {
        ...createAccounts(store, quota?.accountBytes),
        ...createTokens(store),
        ...createEntryMergeAnswers(store),
        ...createMembers(store),
        ...createService(store, { facts: serviceFacts, refusedOrigins }),
        ...createRefused(store),
        ...createAudit(store),
        ...createContacts(store),
        ...createContactBatches(store),
        ...createLinks(store),
        ...reportAnswers,
        ...createSegments(store),
        ...createViews(store),
        ...createShareLinks(store, checkReport),
        ...events,
      },
      createCSVReply({ store, log, isStopping }),
    ),
    logEvent: createLogEventReply(events.logEvent, traffic),
    logEvents: createLogEventsReply(events.logEvents, traffic),
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
  // The folders beside the root, which is one as well, because pages with an earlier tag go on sending to where they did.
  const pageFolders = [folderOf(trackerPath), apiPrefix];
  const addOperation = <Name extends OperationName>(name: Name) => {
    const pageName = (pageNames as Partial<Record<OperationName, string>>)[name];
    const pagePaths = pageName === undefined ? [] : pageFolders.map((folder) => folder + pageName);
    const route = operationRoute(name, replies[name]);
    for (const path of new Set([...operations[name].paths, ...pagePaths])) add(path, route);
  };

  operationNames.forEach(addOperation);
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
    // To others the path is not there, whatever the method.
    app.all(`${base}/metrics`, (c, next) => (isAllowed(c.req.raw.headers) ? serveMetrics(c, next) : notFound(c)));
  }
  const serveMissingScript = files.tracker === undefined ? undefined : serve(missingScriptRoute(base, paths));
  app.notFound((c) => {
    const { method, path } = c.req;
    if (serveMissingScript && isForScript(method, path)) return serveMissingScript(c, async () => {});
    const meant = nearestName(path.slice(path.lastIndexOf('/') + 1), operationNames);
    return notFound(c, meant && base + operations[meant as OperationName].paths[0]);
  });
  app.onError(createFailed(log));
  return app;
};
