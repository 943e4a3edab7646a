/**
 * Segment's HTTP API, step by step: its paths, authentication, limits and responses, and nothing of them elsewhere.
 *
 * 1. `tokenOf`: Basic with the token as the user name, `writeKey`, or Bearer.
 * 2. `toCall` maps each message to an operation; see messages.ts.
 * 3. `completeContacts`: with a server token, creates contacts that only events name, and leaves the profile of existing ones alone.
 * 4. `carryOut`: in the order of the messages, so that a contact exists before its events. A message that is refused is listed
 *    with the refused requests, and never fails the others: clients drop the whole batch after a 4xx.
 * 5. A store that is unavailable, or a limit that is exceeded, fails the request: the client repeats it, and each messageId is
 *    recognized.
 */
import { isIP } from 'node:net';
import { check, isRecord } from '@firsthand/contract/checking';
import { statusOf } from '@firsthand/contract/errors';
import { labelIDs } from '@firsthand/contract/labels';
import { limits } from '@firsthand/contract/limits';
import { type InputOf, operations } from '@firsthand/contract/operations';
import { isOriginAllowed } from '@firsthand/contract/origins';
import type { Context } from 'hono';
import { BoundedMap } from '../../shared/bounded-map.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Store } from '../../store/store.ts';
import { costOf } from '../access/call-cost.ts';
import { type AnsweringAll, accountOf, type Caller, toStoreCaller } from '../access/caller.ts';
import type { CallerOf } from '../access/callers.ts';
import { isLoopbackName } from '../access/loopback.ts';
import type { TakeBrowserLimits } from '../access/rate-limits.ts';
import { type Exchange, headersOf } from '../answers/answers.ts';
import { refusalOf } from '../operation-route.ts';
import { isKeptCode, refusedBatch, refusedRequest } from '../refused/refused-requests.ts';
import type { Admit } from '../request/admission.ts';
import { type Agent, createAgents, unknownAgent } from '../request/agents.ts';
import type { BodySource } from '../request/body.ts';
import { type Budget, type RequestFields, readInput } from '../request/input.ts';
import type { BudgetOf } from '../request/parsing-budget.ts';
import type { Route } from '../routes.ts';
import type { Traffic } from '../traffic.ts';
import { messagesOf, type SegmentCall, type SegmentProblem, toCall } from './messages.ts';

const maxMessages = 2_500;
/** Phones that were offline send old events. */
const eventAgeDays = 30;
/** Clients take a longer pause for an error. */
const maxRetrySeconds = 300;
/** How many contacts are created at the same time. */
const contactsTogether = 100;
const defaultProfileID = 'contact';
const maxCached = 10_000;

/** The paths of a single message, and its type. */
const messagePaths = {
  ...{ track: 'track', identify: 'identify', page: 'page', screen: 'screen', group: 'group', alias: 'alias' },
  ...{ t: 'track', i: 'identify', p: 'page', s: 'screen', g: 'group', a: 'alias' },
} as const;
const batchPaths = ['batch', 'import', 'b'] as const;

interface SegmentOptions {
  readonly admit: Admit;
  readonly budgetOf: BudgetOf;
  readonly callerOf: CallerOf;
  readonly takeBrowserLimits: TakeBrowserLimits;
  readonly noticeProxy: (c: Context) => void;
  readonly isOverQuota: (account: number) => boolean;
  readonly store: Pick<Store, 'getContact' | 'listCatalogue' | 'addRefused'>;
  readonly answering: AnsweringAll<'logEvents' | 'createContact'>;
  /** Finds the country of an address. */
  readonly countryOf?: ((address: string) => string | undefined) | undefined;
  readonly traffic: Traffic;
  readonly now: () => number;
  /** The folder of the paths: `/v1/`. */
  readonly folder: string;
  /** The folders below which all paths are served: `/`, and the one that pages send to. */
  readonly places: readonly string[];
  /** The host of CONSOLE_ORIGIN. */
  readonly consoleHost: string | undefined;
  /** The prefix of all paths, without a slash at its end. */
  readonly base: string;
}

/** A response in Segment's form: it has no field `error`, in which the Ruby client looks for a text. */
const respond = (exchange: Exchange, status: number, body: object, headers?: Record<string, string>): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { ...headersOf(exchange), 'Content-Type': 'application/json', ...headers },
  });

const refuse: NonNullable<Route['refuse']> = (exchange, { code, message, retryAfterSeconds = 1 }, more) => {
  const status = statusOf(code);
  const retrySeconds = Math.min(maxRetrySeconds, Math.max(1, Math.ceil(retryAfterSeconds)));
  const again = status === 429 || status === 503;
  const headers = { ...more, ...(again && { 'Retry-After': String(retrySeconds) }) };
  return respond(exchange, status, { success: false, code, message, requestID: exchange.requestID }, headers);
};

/** The token of the Authorization header: the user name of Basic (RFC 7617). Bearer is read like everywhere. */
const basicToken = (headers: Headers): string | undefined => {
  const [, encoded] = /^Basic +([A-Za-z0-9+/=_-]{1,400}) *$/i.exec(headers.get('authorization') ?? '') ?? [];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8').split(':')[0] || undefined;
};

/** `budget` for a request whose token is in its Authorization header in Segment's form. */
const withToken = (budget: Budget, tokenUUID: string): Budget => ({
  mayRead: (bytes, query) => budget.mayRead(bytes, { ...query, tokenUUID }),
  mayUnpack: (packed, maxBytes, query) => budget.mayUnpack(packed, maxBytes, { ...query, tokenUUID }),
  mayParse: (text, query) => budget.mayParse(text, { ...query, tokenUUID }),
});

/** A request that would succeed later; the others would be refused again. */
const isTemporary = (code: Refusal['code']): boolean => statusOf(code) === 429 || statusOf(code) >= 500;

const timeOf = (value: unknown): number | undefined => {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
};

/** A message's operation, with the program of its visitor. */
interface Step {
  readonly call: SegmentCall | SegmentProblem;
  readonly visitor: Agent | undefined;
}

export const createSegmentRoutes = (options: SegmentOptions): { readonly path: string; readonly route: Route }[] => {
  const { admit, budgetOf, callerOf, takeBrowserLimits, noticeProxy, isOverQuota, store, answering, traffic } = options;
  const { countryOf, now, folder, places, consoleHost, base } = options;
  const agentOf = createAgents();
  /** The external IDs that events may name, by account. */
  const knownContacts = new BoundedMap<string, true>(maxCached);

  /** The visitor's program and country: what the message states and, with a browser token, what the request's headers show. */
  const visitorOf = (message: unknown, caller: Caller): Agent | undefined => {
    const context = isRecord(message) && isRecord(message.context) ? message.context : {};
    const own = caller.access.kind === 'browser' ? caller.agent?.() : undefined;
    const { userAgent, ip } = context;
    const isBrowser = !isRecord(context.library) || context.library.name === 'analytics.js';
    const stated = typeof userAgent === 'string' ? agentOf({ 'user-agent': userAgent }) : undefined;
    const { robot, labels } = stated ?? (isBrowser && own ? own : unknownAgent);
    const country =
      own === undefined
        ? typeof ip === 'string' && isIP(ip) > 0 && countryOf?.(ip)
        : own.labels.find(([attrID]) => attrID === labelIDs.country)?.[1];
    const others = labels.filter(([attrID]) => attrID !== labelIDs.country);
    return { robot, labels: country ? [...others, [labelIDs.country, country]] : others };
  };

  const findContact = (externalID: string, caller: Caller) =>
    store.getContact({ ...toStoreCaller(caller), externalID, include: [] });

  /** The profile for createContact: that of the contact, which stays as it is, or the first one of the account. */
  const profileOf = async (externalID: string | undefined, caller: Caller): Promise<string> => {
    try {
      if (externalID !== undefined) return (await findContact(externalID, caller)).fields.contactProfileID;
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'unknown_contact') throw error;
    }
    const [first] = await store.listCatalogue({ account: accountOf(caller), kind: 'profile' });
    return first?.id ?? defaultProfileID;
  };

  /** Carries out one createContact. */
  const putContact = async (input: RequestFields, caller: Caller): Promise<void> => {
    const externalID = caller.access.kind === 'browser' ? undefined : input.contactExternalID;
    const contactProfileID = await profileOf(typeof externalID === 'string' ? externalID : undefined, caller);
    const checked = check(operations.createContact.input, { contactProfileID, ...input });
    if (!checked.ok) throw refusalOf(checked.problem);
    await answering.createContact(checked.value as InputOf<'createContact'>, caller);
  };

  /** Creates the contact that an event of a server token names, unless it exists. */
  const ensureContact = async (externalID: unknown, caller: Caller): Promise<void> => {
    const account = accountOf(caller);
    const key = `${account} ${externalID}`;
    if (typeof externalID !== 'string' || knownContacts.has(key)) return;
    try {
      await findContact(externalID, caller);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'unknown_contact') throw error;
      await putContact({ contactExternalID: externalID }, caller);
    }
    knownContacts.set(key, true);
  };

  /** Lists a refused message, from which the operator can send what it was mapped to again. */
  const storeRefused = async ({ operation, input }: SegmentCall, refusal: Refusal, caller: Caller): Promise<void> => {
    if (isTemporary(refusal.code)) throw refusal;
    traffic.refuse(refusal.code);
    if (!isKeptCode(refusal.code)) return;
    const { tokenUUID: token, time } = caller;
    await store.addRefused(refusedBatch(caller, [refusedRequest(operation, input, refusal, { token, time })]));
  };

  /** Carries out calls that don't depend on each other's order, and lists those that are refused. */
  const runTogether = async (
    calls: readonly SegmentCall[],
    work: (call: SegmentCall) => Promise<void>,
    caller: Caller,
  ): Promise<SegmentCall[]> => {
    const done = await Promise.all(
      calls.map(async (call) => {
        try {
          await work(call);
          return [call];
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          await storeRefused(call, error, caller);
          return [];
        }
      }),
    );
    return done.flat();
  };

  const logEvents = async (calls: readonly SegmentCall[], caller: Caller, sentTime: number | undefined) => {
    const named = await runTogether(calls, ({ input }) => ensureContact(input.contactExternalID, caller), caller);
    if (named.length === 0) return;
    const input = { event: named.map((call) => call.input), sentTime };
    const { event } = await answering.logEvents(input as InputOf<'logEvents'>, caller);
    for (const { error, duplicate } of event) {
      if (error && isTemporary(error.code)) throw refusalOf(error);
      if (error) traffic.refuse(error.code);
      else if (duplicate) traffic.numbers.duplicates += 1;
      else traffic.numbers.kept += 1;
    }
  };

  /** Carries out the calls in runs of the same kind. A run of contacts has no user and no key twice: the last traits win. */
  const carryOut = async (steps: readonly Step[], caller: Caller, sentTime: number | undefined): Promise<void> => {
    let run: SegmentCall[] = [];
    let keys = new Set<unknown>();
    let first: Step | undefined;
    const flush = async () => {
      const calls = run;
      const visitor = first?.visitor;
      [run, keys, first] = [[], new Set(), undefined];
      if (calls[0]?.operation === 'logEvent') await logEvents(calls, { ...caller, visitor, eventAgeDays }, sentTime);
      else await runTogether(calls, ({ input }) => putContact(input, caller), caller);
    };
    for (const step of steps) {
      const { call, visitor } = step;
      if ('refusal' in call) {
        await storeRefused(call, call.refusal, caller);
        continue;
      }
      const isContact = call.operation === 'createContact';
      const { userUUID, contactExternalID, contactEmailaddress } = call.input;
      const own = isContact ? [userUUID, contactExternalID, contactEmailaddress].filter(Boolean) : [];
      if (
        first?.call.operation !== call.operation ||
        (!isContact && first.visitor !== visitor) ||
        run.length >= (isContact ? contactsTogether : limits.eventsPerBatch) ||
        own.some((key) => keys.has(key))
      )
        await flush();
      first ??= step;
      run.push(call);
      for (const key of own) keys.add(key);
    }
    await flush();
  };

  const takeLimits = (c: Context, caller: Caller, steps: readonly Step[]) => {
    const { account, kind, token } = caller.access;
    if (kind === 'browser') {
      noticeProxy(c);
      const events = steps.flatMap(({ call }) => (call.operation === 'logEvent' ? [call.input] : []));
      const userUUID = events.map(({ userUUID: user }) => user).find((user) => typeof user === 'string') as string;
      if (events.length > 0)
        takeBrowserLimits(c, costOf('logEvents', token, { event: events }, { userUUID, event: events }));
      for (const { call } of steps)
        if (call.operation === 'createContact')
          takeBrowserLimits(c, costOf('createContact', token, call.input, call.input));
    }
    if (account !== null && isOverQuota(account)) throw new Refusal('quota', { retryAfterSeconds: maxRetrySeconds });
  };

  const messagesOfRequest = (given: RequestFields, type: string | undefined): unknown[] => {
    if (type !== undefined) return [{ ...given, type }];
    if (!Array.isArray(given.batch))
      throw new Refusal('invalid_field', { field: 'batch', message: '`batch` must be an array of messages' });
    if (given.batch.length > maxMessages)
      throw new Refusal('body_too_large', {
        field: 'batch',
        message: `\`batch\` may have at most ${maxMessages} messages`,
      });
    return messagesOf(given.batch, given);
  };

  const answer = async (c: Context, exchange: Exchange, source: BodySource, type: string | undefined) => {
    const time = now();
    const basic = basicToken(c.req.raw.headers);
    const budget = basic === undefined ? budgetOf(c) : withToken(budgetOf(c), basic);
    const given = await readInput(c.req.raw, limits.batchBodyBytes, source, budget);
    const proof = { tokenUUID: basic ?? given.writeKey };
    const caller = await callerOf('logEvents', operations.logEvents, proof, c, time);
    const messages = messagesOfRequest(given, type);
    const sender = {
      fromBrowser: caller.access.kind === 'browser',
      hashKey: `account ${accountOf(caller)}`,
    };
    // Messages of the same visitor share their labels, and so a commit.
    const visitors = new Map<string, Agent | undefined>();
    const steps = messages.map((message): Step => {
      const visitor = visitorOf(message, caller);
      const key = JSON.stringify(visitor);
      if (!visitors.has(key)) visitors.set(key, visitor);
      return { call: toCall(message, sender), visitor: visitors.get(key) };
    });
    takeLimits(c, caller, steps);
    await carryOut(steps, caller, timeOf(given.sentAt));
    return respond(exchange, 200, { success: true });
  };

  const route = (type?: string): Route => ({
    name: 'segment',
    methods: ['POST'],
    openToPages: true,
    refuse,
    answer: (c, exchange) => admit(c, (source) => answer(c, exchange, source, type)),
  });

  /** The metrics of analytics.js, which unknownAgent needs. */
  const metricsRoute: Route = {
    ...route(),
    answer: (_, exchange) => respond(exchange, 200, { success: true }),
  };

  /** The host to which a client is to send: never one that only the Host header names, because a client obeys it. */
  const apiHostOf = (host: string, { accountOrigin }: Caller['access']): string => {
    if (isLoopbackName(host) || (accountOrigin.length > 0 && isOriginAllowed(accountOrigin, `https://${host}`)))
      return host;
    if (consoleHost !== undefined) return consoleHost;
    const message = `${host.slice(0, 100)} is neither a site of the account nor the host of CONSOLE_ORIGIN`;
    throw new Refusal('origin_not_allowed', { message });
  };

  /** What clients read at their start. Its `apiHost` replaces the one in their code. */
  const settingsRoute: Route = {
    ...route(),
    methods: ['GET'],
    answer: async (c, exchange) => {
      const apiKey = c.req.param('writeKey') ?? '';
      const { access } = await callerOf('logEvents', operations.logEvents, { tokenUUID: apiKey }, c, now());
      const apiHost = apiHostOf(c.req.header('host') ?? '', access) + base + folder.replace(/\/$/, '');
      return respond(exchange, 200, { integrations: { 'Segment.io': { apiKey, apiHost } } });
    },
    loggedPath: `${base}/projects/…/settings`,
  };

  const paths: [path: string, route: Route][] = [
    ...Object.entries(messagePaths).map(([path, type]): [string, Route] => [folder + path, route(type)]),
    ...batchPaths.map((path): [string, Route] => [folder + path, route()]),
    ['/b', route()],
    [`${folder}m`, metricsRoute],
    ['/projects/:writeKey/settings', settingsRoute],
    [`${folder}projects/:writeKey/settings`, settingsRoute],
  ];
  return places.flatMap((place) =>
    paths.map(([path, served]) => ({ path: place.replace(/\/$/, '') + path, route: served })),
  );
};
