/** The whole HTTP application, wired: what each path leads to. */
import type { Socket } from 'node:net';
import { type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { Logger } from 'pino';
import { createAccounts } from './http/accounts.ts';
import { createAdmission } from './http/admission.ts';
import { createArrivalOf } from './http/arrival.ts';
import { createAudit } from './http/audit.ts';
import { createAuthentication } from './http/authentication.ts';
import { createAddressOf } from './http/client-address.ts';
import { createContacts } from './http/contacts.ts';
import { type Counting, createCounting } from './http/counting.ts';
import { documentRoute } from './http/document.ts';
import { createEvents } from './http/events.ts';
import { createFindGood } from './http/good-token.ts';
import { healthRoute, readinessRoute } from './http/health.ts';
import { createLinks } from './http/links.ts';
import { createOperationRoute, jsonReplies, type Reply } from './http/operation-route.ts';
import { createParsingBudget } from './http/parsing-budget.ts';
import { createLogEventReply } from './http/pixel.ts';
import { createProxyNotice } from './http/proxy-notice.ts';
import type { RateLimits } from './http/rate-limits.ts';
import { createRefusalBudget } from './http/refusal-budget.ts';
import { createFailed, createNotFound, createRouteServer, type Route } from './http/routes.ts';
import { createStreamReply } from './http/stream.ts';
import { createTokenUse } from './http/token-use.ts';
import { createTokens } from './http/tokens.ts';
import { trackerRoutes } from './http/tracker-script.ts';
import { createLogEventsReply } from './http/user-cookie.ts';
import type { Quota } from './quota.ts';
import type { Store } from './store/store.ts';

export interface AppOptions {
  readonly store: Store;
  readonly log: Logger;
  /** Below which all paths lie: `/`, or `/x/`. */
  readonly basePath: string;
  /** Addresses or CIDR blocks of the proxies whose X-Forwarded-For counts; empty: it never does. */
  readonly trustProxy: readonly string[];
  readonly rateLimits: RateLimits;
  /** What an account may store; without it, any amount. */
  readonly quota?: Quota | undefined;
  /** Is called when a good token has come over a connection. */
  readonly vouch?: (socket: Socket) => void;
  /** Of one of several processes that handle requests. */
  readonly among?: Among | undefined;
  /** `tracker`: the folder that the tracker was built into. */
  readonly files: { readonly tracker?: string };
  /** The time of day, in milliseconds since 1970. */
  readonly now?: () => number;
  /** While it is so, every answer closes its connection, and the server says that it isn't ready. */
  readonly isStopping?: () => boolean;
}

/** What differs in one of several processes. */
export interface Among {
  /** Counts the requests of all of them. */
  readonly counting: Counting;
  /** This one's part of what may be held of bodies. */
  readonly mostHeldBytes: number;
  /** Calls `listener` when what tokens may act for has changed, before any of them answers that it has. */
  readonly onAccessChange: (listener: () => void) => () => void;
}

export const createApp = ({
  store,
  log,
  basePath,
  trustProxy,
  rateLimits,
  quota,
  vouch,
  among,
  files,
  now = Date.now,
  isStopping = () => false,
}: AppOptions): Hono => {
  const { addressOf, senderOf, takeBrowserLimits, unknownTokens, streamPlaces, clockErrorOf } =
    among?.counting ?? createCounting(rateLimits, trustProxy);
  const authenticate = createAuthentication({
    store: among ? { ...store, onCommit: among.onAccessChange } : store,
    addressOf,
    unknownTokens,
    noteUse: createTokenUse({ store, now }),
    noteGood: (c) => {
      const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
      if (incoming?.socket) vouch?.(incoming.socket);
    },
    now,
  });
  // By addresses that are hashed here: each process has a budget of its own.
  const before = { findGood: createFindGood(authenticate), addressOf: createAddressOf(trustProxy) };
  const spendRefusal = createRefusalBudget({
    ...before,
    trustProxy,
    rate: rateLimits.unprovenRequests,
    isStopping,
  });
  const operationRoute = createOperationRoute({
    authenticate,
    budgetOf: createParsingBudget({ ...before, rates: rateLimits }),
    takeBrowserLimits,
    noticeProxy: createProxyNotice(trustProxy, { log, store, now }),
    senderOf,
    isOverQuota: (account) => quota?.isOver(account) === true,
    keepRefused: store.keepRefused,
    now,
  });

  const admitted = createAdmission(among?.mostHeldBytes);

  const events = createEvents(store, createArrivalOf(clockErrorOf));
  const replies: { readonly [Name in OperationName]: Reply<Name> } = {
    ...jsonReplies({
      ...createAccounts(store, quota?.accountBytes),
      ...createTokens(store),
      ...createAudit(store),
      ...createContacts(store),
      ...createLinks(store),
      ...events,
    }),
    logEvent: createLogEventReply(events.logEvent),
    logEvents: createLogEventsReply(events.logEvents),
    streamEvents: createStreamReply({ store, log, isStopping, places: streamPlaces }),
  };

  const app = new Hono();
  const base = basePath.replace(/\/$/, '');
  const serve = createRouteServer({ log, isStopping, spendRefusal });
  const add = (path: string, route: Route) => app.all(base + path, serve(route));
  const addOperation = <Name extends OperationName>(name: Name) => {
    for (const path of operations[name].paths) add(path, admitted(operationRoute(name, replies[name])));
  };

  operationNames.forEach(addOperation);
  add('/healthz', healthRoute);
  add('/readyz', readinessRoute(store));
  add('/openapi.json', documentRoute(base));
  if (files.tracker !== undefined) for (const { path, route } of trackerRoutes(files.tracker)) add(path, route);
  app.notFound(createNotFound({ log, isStopping, spendRefusal }));
  app.onError(createFailed({ log, isStopping }));
  return app;
};
