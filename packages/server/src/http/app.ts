/** The HTTP application: creates its parts and adds the routes. */
import type { Socket } from 'node:net';
import { pageNames } from '@firsthand/contract/identifiers';
import { nearestName } from '@firsthand/contract/near-miss';
import { type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import { Hono } from 'hono';
import type { Logger } from 'pino';
import type { Reports } from '../reports/queries.ts';
import type { Store } from '../store/store.ts';
import { createCallerAuthentication } from './access/authenticate-caller.ts';
import { createAuthentication } from './access/authentication.ts';
import { bindingsOf, createAddressHasher, createRequestAddress, senderNumber } from './access/client-address.ts';
import { createProxyNotice } from './access/proxy-notice.ts';
import type { Quota } from './access/quota.ts';
import { createBrowserLimits, createRateLimit, type RateLimits } from './access/rate-limits.ts';
import { createRefusalBudget } from './access/refusal-budget.ts';
import { createRefusedPages } from './access/refused-pages.ts';
import { createTokenUse, type TokenUse } from './access/token-use.ts';
import { createValidTokenFinder } from './access/valid-token.ts';
import { createConsole } from './console/console.ts';
import { consoleRoutes, readConsolePage } from './console/pages.ts';
import { createPasswords, type Passwords } from './console/passwords.ts';
import type { SampleShop } from './console/sample-shop.ts';
import { createSharedRoutes, toSharedPage } from './console/share-links/routes.ts';
import { createSignInCodes, type SignInCodes } from './console/sign-in-codes.ts';
import { type DocsFiles, docsRoutes } from './docs.ts';
import { healthRoute, readinessRoute } from './health.ts';
import { createMcpRoute } from './mcp/mcp-route.ts';
import { createTokenCheck, type MetricsAccess, metricsRoute } from './metrics.ts';
import { isForScript, missingScriptRoute } from './missing-script.ts';
import { createMailLinkRoutes } from './notifications/link-routes.ts';
import { documentRoute } from './openapi-document.ts';
import { createOperationRoute } from './operation-route.ts';
import { noFacts, type ServiceFacts } from './operations/accounts/service.ts';
import { createOperationReplies } from './operations/replies.ts';
import { createAdmission } from './request/admission.ts';
import { createAgentFinder } from './request/agents.ts';
import { type CountrySources, createCountryFinder } from './request/country.ts';
import { createParsingBudget } from './request/parsing-budget.ts';
import { createErrorConverter } from './responses/to-refusal.ts';
import { createErrorResponder, createRouteServer, type Route } from './routes.ts';
import { folderOf, type PagePaths } from './script-tag.ts';
import { securityTextPath, securityTextRoute } from './security-text.ts';
import { createSegmentRoutes } from './segment/routes.ts';
import { trackerRoutes } from './tracker-script.ts';
import { createTraffic, type Traffic } from './traffic.ts';
import { createSender, type Sender } from './webhooks/send.ts';

export interface AppOptions extends CountrySources {
  readonly store: Store;
  readonly log: Logger;
  /** The prefix of all paths: `/`, or `/x/`. */
  readonly basePath: string;
  /** The paths that pages use; by default `/main.js`, which sends requests to its own folder. */
  readonly paths?: PagePaths;
  /** The path of Segment's HTTP API: `/v1/`; not served if absent. */
  readonly segmentPath?: string | undefined;
  /** Addresses or CIDR blocks of trusted proxies. If empty, X-Forwarded-For is ignored. */
  readonly trustProxy: readonly string[];
  readonly rateLimits: RateLimits;
  /** The report engine. If absent, reports are refused. */
  readonly reports?: Reports | undefined;
  /** Each account's storage quota; no limit if absent. */
  readonly quota?: Quota | undefined;
  /** Sends webhook messages; by default, only to public addresses. */
  readonly sender?: Sender;
  /** Whether the server sends mails; false by default. */
  readonly mail?: boolean;
  /** Called when a valid token has arrived on a connection. */
  readonly vouch?: ((socket: Socket) => void) | undefined;
  /** Records token uses. If absent, uses in the last 30 s are lost when the server stops. */
  readonly tokenUse?: Pick<TokenUse, 'note'>;
  /** The build folders of the tracker, the console and the documentation. Absent folders are not served. */
  readonly files: { readonly tracker?: string; readonly console?: string; readonly docs?: DocsFiles };
  /** Counts requests and responses. */
  readonly traffic?: Traffic;
  /** Access to /metrics, which is not served if absent. */
  readonly metrics?: MetricsAccess | undefined;
  /** The console's origin; absent if the console can be used only on this machine. */
  readonly consoleOrigin?: string | undefined;
  /** The codes of one-time links to the console. */
  readonly signInCodes?: SignInCodes;
  /** Hashes members' passwords. */
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

type AcceptanceOptions = Pick<
  AppOptions,
  'store' | 'log' | 'trustProxy' | 'rateLimits' | 'quota' | 'countryOf' | 'countryHeader' | 'vouch'
> &
  Required<Pick<AppOptions, 'tokenUse' | 'isStopping' | 'now'>>;

/**
 * Lists the paths of an operation. Operations that pages call are also served in `folders`. Their paths at the root
 * stay valid, because pages with an older tag still use them.
 */
const listPaths = (name: OperationName, folders: readonly string[]): Set<string> => {
  const pageName = (pageNames as Partial<Record<OperationName, string>>)[name];
  const pagePaths = pageName === undefined ? [] : folders.map((folder) => folder + pageName);
  return new Set([...operations[name].paths, ...pagePaths]);
};

/** Creates the parts that identify the sender of a request and decide whether to accept the request. */
const createAcceptance = ({
  store,
  log,
  trustProxy,
  rateLimits,
  quota,
  countryOf,
  countryHeader,
  vouch,
  tokenUse,
  isStopping,
  now,
}: AcceptanceOptions) => {
  const addressOf = createAddressHasher(trustProxy);
  const prefixOf = createAddressHasher(trustProxy, { bits: 48 });
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
  const findValidToken = createValidTokenFinder(authenticate);
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
  const agentOf = createAgentFinder(createCountryFinder({ countryOf, countryHeader, trustProxy }));
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
  return { addressOf, prefixOf, agentOf, refusedPages, spendRefusal, reading, accepting };
};

/** If the last part of a path is a misspelled operation name, returns the path of that operation. */
const suggestPath = (path: string, base: string): string | undefined => {
  const meant = nearestName(path.slice(path.lastIndexOf('/') + 1), operationNames);
  return meant && base + operations[meant as OperationName].paths[0];
};

const fileRoutes = ({ tracker, docs, console }: AppOptions['files'], paths: PagePaths) => [
  ...(tracker === undefined ? [] : trackerRoutes(tracker, paths.trackerPath)),
  ...(docs === undefined ? [] : docsRoutes(docs, paths)),
  ...(console === undefined ? [] : consoleRoutes(console, paths)),
];

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
  sender = createSender({}),
  mail = false,
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
  const { addressOf, prefixOf, agentOf, refusedPages, spendRefusal, reading, accepting } = createAcceptance({
    ...{ store, log, trustProxy, rateLimits, quota, countryOf, countryHeader, vouch, tokenUse, isStopping, now },
  });
  const operationRoute = createOperationRoute(accepting);
  const console = createConsole({
    ...reading,
    ...{ store, addressOf, prefixOf, agentOf, passwords, signInCodes, consoleOrigin, sampleShop, mail },
    requestAddress: createRequestAddress(trustProxy),
    unknownTokenRate: rateLimits.unknownToken,
  });
  const { handlers, replies } = createOperationReplies({
    ...{
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
    },
  });

  const sharedViews = createSharedRoutes({
    ...reading,
    ...{ store, addressOf, handlers },
    unknownTokenRate: rateLimits.unknownToken,
    page: files.console === undefined ? undefined : toSharedPage(readConsolePage(files.console)),
  });

  const { trackerPath, apiPrefix = '/' } = paths;
  const app = new Hono();
  const base = basePath.replace(/\/$/, '');
  const { serve, notFound } = createRouteServer(log, spendRefusal, traffic);
  const add = (path: string, route: Route) => app.all(base + path, serve(route));
  const addOperation = <Name extends OperationName>(name: Name) => {
    const route = operationRoute(name, replies[name]);
    for (const path of listPaths(name, [folderOf(trackerPath), apiPrefix])) add(path, route);
  };

  operationNames.forEach(addOperation);
  if (segmentPath !== undefined) {
    const segmentRoutes = createSegmentRoutes({
      ...accepting,
      ...{ store, handlers, countryOf, traffic, base },
      folder: segmentPath,
      places: [...new Set(['/', apiPrefix])],
      consoleHost: consoleOrigin && new URL(consoleOrigin).host,
    });
    for (const { path, route } of segmentRoutes) add(path, route);
  }
  add(
    '/mcp',
    createMcpRoute({ ...accepting, ...{ handlers, consoleOrigin, base }, toRefusal: createErrorConverter(log) }),
  );
  add('/healthz', healthRoute);
  add('/readyz', readinessRoute(store, isStopping));
  add('/openapi.json', documentRoute(base));
  if (securityContact !== undefined) app.all(securityTextPath, serve(securityTextRoute(securityContact, now)));
  const mailLinks = createMailLinkRoutes({ store, now });
  for (const { path, route } of [...console, ...sharedViews, ...mailLinks, ...fileRoutes(files, paths)])
    add(path, route);
  if (metrics !== undefined) {
    const serveMetrics = serve(metricsRoute(metrics));
    const isAllowed = createTokenCheck(metrics.token);
    // Without the token, the path does not exist for any method.
    app.all(`${base}/metrics`, (c, next) => (isAllowed(c.req.raw.headers) ? serveMetrics(c, next) : notFound(c)));
  }
  const serveMissingScript = files.tracker === undefined ? undefined : serve(missingScriptRoute(base, paths));
  app.notFound((c) => {
    const { method, path } = c.req;
    if (serveMissingScript && isForScript(method, path)) return serveMissingScript(c, async () => {});
    return notFound(c, suggestPath(path, base));
  });
  app.onError(createErrorResponder(log));
  return app;
};
