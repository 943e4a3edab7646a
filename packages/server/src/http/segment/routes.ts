/**
 * Serves Segment's HTTP API. Its conventions (paths, authentication, limits, responses) apply only here.
 *
 * 1. `authenticateCaller`: the token is the user name of Basic authentication, the field `writeKey`, or a Bearer token.
 * 2. `readMessages`: limits the total size before any message is mapped.
 * 3. `toCall` maps each message to an operation (messages.ts) that its sender is allowed to call (sender.ts);
 *    `findVisitor` finds the labels of its events.
 * 4. `takeLimits`: the rate limits of a browser token, all or none; the account's quota.
 * 5. `runMessages`: runs the operations (run-messages.ts), and finds or creates contacts (contacts.ts).
 */
import { statusOf } from '@firsthand/contract/errors';
import { limits } from '@firsthand/contract/limits';
import { operations } from '@firsthand/contract/operations';
import { isOriginAllowed } from '@firsthand/contract/origins';
import type { Context } from 'hono';
import { Refusal } from '../../shared/refusal.ts';
import type { AuthenticateCaller } from '../access/authenticate-caller.ts';
import { basicToken } from '../access/authentication.ts';
import { storedBytes } from '../access/call-cost.ts';
import type { Caller } from '../access/caller.ts';
import { isLoopbackName } from '../access/loopback.ts';
import type { TakeBrowserLimits } from '../access/rate-limits.ts';
import type { Admit } from '../request/admission.ts';
import type { BodySource } from '../request/body.ts';
import type { CountryOf } from '../request/country.ts';
import { type RequestFields, readInput } from '../request/input.ts';
import type { BudgetOf } from '../request/parsing-budget.ts';
import { type Exchange, headersOf } from '../responses/responses.ts';
import type { Route } from '../routes.ts';
import { toCall, toRecord } from './messages.ts';
import { createMessageRunner, type MessageRunnerOptions, type Step } from './run-messages.ts';
import { createSenders } from './sender.ts';
import { createVisitorFinder } from './visitors.ts';

const maxMessages = 2_500;
/**
 * The maximum total size of the messages after the batch's context, which is sent once, is merged into each message.
 */
const maxMappedLength = 4 * limits.batchBodyBytes;
/** Clients treat a longer Retry-After as an error. */
const maxRetrySeconds = 300;

/** The paths that take a single message, with its type. */
const messagePaths = {
  ...{ track: 'track', identify: 'identify', page: 'page', screen: 'screen', group: 'group', alias: 'alias' },
  ...{ t: 'track', i: 'identify', p: 'page', s: 'screen', g: 'group', a: 'alias' },
} as const;
const batchPaths = ['batch', 'import', 'b'] as const;

interface SegmentOptions extends MessageRunnerOptions {
  readonly store: MessageRunnerOptions['store'] & Parameters<typeof createSenders>[0];
  readonly admit: Admit;
  readonly budgetOf: BudgetOf;
  readonly authenticateCaller: AuthenticateCaller;
  readonly takeBrowserLimits: TakeBrowserLimits;
  readonly noticeProxy: (c: Context) => void;
  readonly isOverQuota: (account: number) => boolean;
  readonly countryOf?: CountryOf | undefined;
  readonly now: () => number;
  /** The folder of the paths: `/v1/`. */
  readonly folder: string;
  /** The folders below which all paths are served: `/`, and the folder that pages send to. */
  readonly places: readonly string[];
  /** The host of CONSOLE_ORIGIN. */
  readonly consoleHost: string | undefined;
  /** The prefix of all paths, without a trailing slash. */
  readonly base: string;
}

/**
 * A response in Segment's form. It has no field `error`, because the Ruby client would treat that field as a message.
 */
const respond = (exchange: Exchange, status: number, body: object, headers?: Record<string, string>): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { ...headersOf(exchange), 'Content-Type': 'application/json', ...headers },
  });

const refuse: NonNullable<Route['refuse']> = (exchange, { code, message, retryAfterSeconds = 1 }, more) => {
  const status = statusOf(code);
  const retrySeconds = Math.min(maxRetrySeconds, Math.max(1, Math.ceil(retryAfterSeconds)));
  const isTemporary = status === 429 || status === 503;
  const headers = { ...more, ...(isTemporary && { 'Retry-After': String(retrySeconds) }) };
  return respond(exchange, status, { success: false, code, message, requestID: exchange.requestID }, headers);
};

const timeOf = (value: unknown): number | undefined => {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
};

interface Message {
  readonly message: unknown;
  /** The size of the message and `outer` as JSON. */
  readonly length: number;
}

/**
 * Returns a request's messages, and its batch's context. Throws Refusal if there are too many messages or they are too
 * large.
 */
const readMessages = (
  fields: RequestFields,
  type: string | undefined,
): { readonly messages: readonly Message[]; readonly outer: RequestFields } => {
  const batch = type === undefined ? fields.batch : [{ ...fields, type }];
  const outer = type === undefined ? toRecord(fields.context) : {};
  if (!Array.isArray(batch))
    throw new Refusal('invalid_field', { field: 'batch', message: '`batch` must be an array of messages' });
  const outerLength = JSON.stringify(outer).length;
  const messages = batch.map((message) => ({ message, length: outerLength + JSON.stringify(message).length }));
  if (batch.length > maxMessages || messages.reduce((sum, { length }) => sum + length, 0) > maxMappedLength) {
    const reason = `\`batch\` may have at most ${maxMessages} messages and, with the context for each, ${maxMappedLength} characters`;
    throw new Refusal('body_too_large', { field: 'batch', message: reason });
  }
  return { messages, outer };
};

type LimitOptions = Pick<SegmentOptions, 'takeBrowserLimits' | 'noticeProxy' | 'isOverQuota'>;

/**
 * Charges a request to all of a browser token's rate limits or none, and checks the account's quota. Throws Refusal.
 */
const takeLimits = (
  { takeBrowserLimits, noticeProxy, isOverQuota }: LimitOptions,
  c: Context,
  { access: { account, kind, token } }: Caller,
  steps: readonly Step[],
): void => {
  if (kind === 'browser') {
    noticeProxy(c);
    const inputsOf = (operation: Step['call']['operation']) =>
      steps.flatMap(({ call }) => (call.operation === operation ? [call.input] : []));
    const [events, contacts] = [inputsOf('logEvent'), inputsOf('createContact')];
    const contactBytes = contacts.map((input) => storedBytes('createContact', input));
    const user = steps.map(({ call }) => call.input.userUUID).find((userUUID) => typeof userUUID === 'string');
    takeBrowserLimits(c, {
      token,
      user: user as string | undefined,
      events: Math.max(1, steps.length),
      bytes: contactBytes.reduce((sum, bytes) => sum + bytes, storedBytes('logEvents', { event: events }, events)),
      createdContacts: contacts.length,
    });
  }
  if (account !== null && isOverQuota(account)) throw new Refusal('quota', { retryAfterSeconds: maxRetrySeconds });
};

/** The properties that all these routes share. */
const common = { name: 'segment', methods: ['POST'], openToPages: true, refuse } as const;

/** Returns a function that creates a route for batches or, with a type, for single messages. */
const createMessageRoutes = (options: SegmentOptions) => {
  const { admit, budgetOf, authenticateCaller, now } = options;
  const runMessages = createMessageRunner(options);
  const senderOf = createSenders(options.store);
  const findVisitor = createVisitorFinder(options.countryOf);

  const handle = async (c: Context, exchange: Exchange, source: BodySource, type: string | undefined) => {
    const time = now();
    const fields = await readInput(c.req.raw, limits.batchBodyBytes, source, budgetOf(c));
    const proof = { tokenUUID: basicToken(c.req.raw.headers) ?? fields.writeKey };
    const caller = await authenticateCaller('logEvents', operations.logEvents, proof, c, time);
    const { messages, outer } = readMessages(fields, type);
    const sender = await senderOf(caller);
    const steps = messages.map(({ message, length }) => ({
      call: toCall(message, sender, outer, length),
      visitor: findVisitor(message, outer, caller),
    }));
    takeLimits(options, c, caller, steps);
    await runMessages(steps, caller, timeOf(fields.sentAt));
    return respond(exchange, 200, { success: true });
  };
  return (type?: string): Route => ({
    ...common,
    handle: (c, exchange) => admit(c, (source) => handle(c, exchange, source, type)),
  });
};

/**
 * Returns the route for the settings that clients read when they start. Its `apiHost` replaces the host in their code.
 */
const createSettingsRoute = ({ authenticateCaller, now, folder, consoleHost, base }: SegmentOptions): Route => {
  /**
   * Returns the host that a client should send to. Never returns an unknown Host header, with which an attacker could
   * redirect a client's data.
   */
  const apiHostOf = (host: string, { accountOrigin }: Caller['access']): string => {
    if (isLoopbackName(host) || (accountOrigin.length > 0 && isOriginAllowed(accountOrigin, `https://${host}`)))
      return host;
    if (consoleHost !== undefined) return consoleHost;
    const message = `${host.slice(0, 100)} is neither a site of the account nor the host of CONSOLE_ORIGIN`;
    throw new Refusal('origin_not_allowed', { message });
  };
  return {
    ...common,
    methods: ['GET'],
    handle: async (c, exchange) => {
      const apiKey = c.req.param('writeKey') ?? '';
      const { access } = await authenticateCaller('logEvents', operations.logEvents, { tokenUUID: apiKey }, c, now());
      const apiHost = apiHostOf(c.req.header('host') ?? '', access) + base + folder.replace(/\/$/, '');
      return respond(exchange, 200, { integrations: { 'Segment.io': { apiKey, apiHost } } });
    },
    loggedPath: `${base}/projects/…/settings`,
  };
};

export const createSegmentRoutes = (options: SegmentOptions): { readonly path: string; readonly route: Route }[] => {
  const { folder, places, base } = options;
  const route = createMessageRoutes(options);
  const settingsRoute = createSettingsRoute(options);
  /** Accepts and drops analytics.js metrics. */
  const metricsRoute: Route = { ...common, handle: (_, exchange) => respond(exchange, 200, { success: true }) };
  /** Responds to all other paths below the folder, in Segment's form. */
  const unknownRoute: Route = {
    ...common,
    methods: ['GET', 'POST'],
    loggedPath: `${base}${folder}…`,
    handle: () => {
      throw new Refusal('unknown_operation');
    },
  };

  const settingsPath = 'projects/:writeKey/settings';
  // For clients that let users configure only a host.
  const hostPaths: [path: string, route: Route][] = [
    ['/b', route()],
    [`/${settingsPath}`, settingsRoute],
  ];
  const paths: [path: string, route: Route][] = [
    ...Object.entries(messagePaths).map(([path, type]): [string, Route] => [folder + path, route(type)]),
    ...batchPaths.map((path): [string, Route] => [folder + path, route()]),
    [`${folder}m`, metricsRoute],
    [folder + settingsPath, settingsRoute],
    ...(folder === '/v1/' ? hostPaths : []),
  ];
  return places.flatMap((place) => {
    const at = place.replace(/\/$/, '');
    return [
      // Some paths end with a slash: the Java client adds one.
      ...paths.flatMap(([path, served]) => ['', '/'].map((end) => ({ path: at + path + end, route: served }))),
      { path: `${at}${folder}*`, route: unknownRoute },
    ];
  });
};
