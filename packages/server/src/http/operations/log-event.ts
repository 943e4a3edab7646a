/**
 * The steps of logEvent and logEvents, after operation-route.ts has read, authenticated and validated the request:
 *
 * 1. `refusePageNames`: a page may refer to a contact only by its handle.
 * 2. `contextOf`: received time, the sender's clock error, whether it is a bot, labels.
 * 3. `toEvent`: checks the time and builds the event to store.
 * 4. `limitNewNames`: limits the names that one network may add.
 * 5. `store.logEvents`: recognizes duplicates, finds the user and the contact, and resolves once the commit is on disk.
 * 6. `toResult`: stored, duplicate or refused. `storeRefused` lists refused events, to be fixed and resent.
 * 7. `createLogEventReply`, `createLogEventsReply`: count the outcomes, and respond with JSON, an image, or a renewed
 *    cookie.
 */

import { check } from '@firsthand/contract/checking';
import { batchEvent } from '@firsthand/contract/event';
import type { InputOf, OutputOf } from '@firsthand/contract/operations';
import type { Problem } from '@firsthand/contract/response';
import { type RequestContext, unlikelyTime } from '../../ingest/event-time.ts';
import { newEvent } from '../../ingest/new-event.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { EventBatch, EventOutcome, NewEvent, Store } from '../../store/store.ts';
import { type Caller, type Handler, type Handlers, toStoreCaller } from '../access/caller.ts';
import type { LimitNewNames } from '../access/new-names.ts';
import { type Reply, refusalOf, successResponse } from '../operation-route.ts';
import { entryAsRequest, isRefusableCode, refusedBatch, refusedRequest } from '../refused/refused-requests.ts';
import { pageNameProblem, refusePageNames } from '../request/contact-names.ts';
import { headersOf, problemResult } from '../responses/responses.ts';
import type { Traffic } from '../traffic.ts';
import { createRequestContexts, withVisitor } from './request-context.ts';
import { userCookie } from './user-cookie.ts';

type EventResult = OutputOf<'logEvents'>['event'][number];

const isEvent = (entry: NewEvent | Problem): entry is NewEvent => 'eventUUID' in entry;
const isProblem = (result: EventResult | Problem): result is Problem => 'code' in result;

/**
 * Returns the problem with an implausible event time; undefined if there is none. `field` is the path of the eventTime.
 */
const findTimeProblem = (
  eventTime: number | undefined,
  context: RequestContext,
  field: string,
): Problem | undefined => {
  const unlikely = unlikelyTime(eventTime, context);
  return unlikely === undefined ? undefined : { code: 'invalid_field', message: `\`${field}\` ${unlikely}`, field };
};

/** Checks the time of logEvent's event, and returns the event to store. */
const toEvent = (input: InputOf<'logEvent'>, context: RequestContext): NewEvent => {
  const problem = findTimeProblem(input.eventTime, context, 'eventTime');
  if (problem) throw refusalOf(problem);
  return newEvent(input, input, context);
};

/** Checks one entry of a batch, and returns the event to store or its problem. */
const toBatchEvent = (
  entry: unknown,
  at: string,
  envelope: InputOf<'logEvents'>,
  context: RequestContext,
): NewEvent | Problem => {
  const checked = check(batchEvent, entry, at);
  if (!checked.ok) return checked.problem;
  const problem =
    findTimeProblem(checked.value.eventTime, context, `${at}.eventTime`) ??
    pageNameProblem(context.fromBrowser, checked.value, `${at}.`);
  if (problem) return problem;
  const event = newEvent(checked.value, envelope, context);
  if (event.userUUID !== null || event.contactUUID !== null || event.externalID !== null) return event;
  const field = `${at}.userUUID`;
  return {
    code: 'missing_field',
    message: `\`${field}\` is required unless \`contactUUID\` or \`contactExternalID\` is given`,
    field,
  };
};

/** Checks the entries of a batch, and returns the event to store or the problem for each. */
export const checkEntries = (
  input: InputOf<'logEvents'>,
  context: RequestContext,
  contextAt: (index: number) => RequestContext = () => context,
): (NewEvent | Problem)[] =>
  input.event.map((entry, index) => toBatchEvent(entry, `event[${index}]`, input, contextAt(index)));

/** Lists each property because spreading toStoreCaller's result makes a single event 25 % slower (Node 20). */
const toBatch = (caller: Caller, events: readonly NewEvent[]): EventBatch => {
  const { account, token, browser } = toStoreCaller(caller);
  return { account, token, browser, receivedTime: caller.time, events };
};

/** Returns the result of an event that the store accepted or refused. */
const toResult = ({ eventUUID }: NewEvent, outcome: EventOutcome, index: number): EventResult | Problem => {
  if ('refused' in outcome) {
    return { code: outcome.refused, message: outcome.message, field: `event[${index}].${outcome.field}` };
  }
  return outcome.kept ? { status: '200', eventUUID } : { status: '200', eventUUID, duplicate: true };
};

export const createLogEvent = (
  store: Pick<Store, 'logEvents' | 'addRefused'>,
  {
    contextOf = createRequestContexts(),
    limitNewNames = (_, events) => events,
  }: { readonly contextOf?: ReturnType<typeof createRequestContexts>; readonly limitNewNames?: LimitNewNames } = {},
): Handlers<'logEvent' | 'logEvents'> => {
  /**
   * Adds refused entries to the list of refused requests, and returns the results. If the store refuses them, those
   * entries get the store's error instead, so that the client retries them.
   */
  const storeRefused = async (
    results: readonly (EventResult | Problem)[],
    input: InputOf<'logEvents'>,
    caller: Caller,
  ): Promise<readonly (EventResult | Problem)[]> => {
    const { tokenUUID: token, time } = caller;
    const isStorable = (result: EventResult | Problem): result is Problem =>
      isProblem(result) && isRefusableCode(result.code);
    const requests = results.flatMap((result, index) =>
      isStorable(result)
        ? refusedRequest('logEvent', entryAsRequest(input.event[index], input), result, { token, time })
        : [],
    );
    if (requests.length === 0) return results;
    try {
      await store.addRefused(refusedBatch(caller, requests));
      return results;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, message } = error;
      return results.map((result) => (isStorable(result) ? { code, message } : result));
    }
  };

  return {
    logEvent: async (input, caller) => {
      refusePageNames(caller, input);
      const event = toEvent(input, contextOf(input, caller));
      const outcomes = await store.logEvents(toBatch(caller, limitNewNames(caller, [event])));
      const outcome = outcomes[0] as EventOutcome;
      if ('refused' in outcome) throw new Refusal(outcome.refused, outcome);
      return outcome.kept ? { eventUUID: event.eventUUID } : { eventUUID: event.eventUUID, duplicate: true };
    },

    logEvents: async (input, caller) => {
      refusePageNames(caller, input);
      const context = contextOf(input, caller);
      const { visitors } = caller;
      const entries = checkEntries(input, context, (index) =>
        visitors === undefined ? context : withVisitor(context, visitors[index], caller),
      );
      const events = limitNewNames(caller, entries.filter(isEvent));
      const outcomes = events.length > 0 ? await store.logEvents(toBatch(caller, events)) : [];
      let next = 0;
      const results = entries.map((entry, index) =>
        isEvent(entry) ? toResult(entry, outcomes[next++] as EventOutcome, index) : entry,
      );
      const finalResults = await storeRefused(results, input, caller);
      return { event: finalResults.map((result) => (isProblem(result) ? problemResult(result) : result)) };
    },
  };
};

/** A transparent one-pixel GIF. */
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/**
 * Whether a client wants an image, as for a pixel in an e-mail or a page without scripts. Some browsers accept any type
 * for an image, so Sec-Fetch-Dest counts too (Fetch Metadata Request Headers, section 2.1).
 */
const wantsImage = (headers: Headers): boolean => {
  const accept = headers.get('accept') || '*/*';
  if (accept.includes('application/json')) return false;
  if (accept.includes('image/') || headers.get('sec-fetch-dest') === 'image') return true;
  return !accept.includes('*/*') && !accept.includes('application/*');
};

/** Responds to an event with JSON or, if a GET request prefers it, with an image. */
export const createLogEventReply =
  (logEvent: Handler<'logEvent'>, { numbers }: Traffic): Reply<'logEvent'> =>
  async ({ c, exchange, input, caller, ignored }) => {
    const { method, headers } = c.req.raw;
    const output = await logEvent(input, caller);
    if (output.duplicate) numbers.duplicates += 1;
    else numbers.kept += 1;
    if (method !== 'GET' || !wantsImage(headers)) return successResponse(exchange, output, ignored);
    const image = { 'Content-Type': 'image/gif', 'Cross-Origin-Resource-Policy': 'cross-origin' };
    return new Response(gif, { headers: { ...headersOf(exchange), ...image } });
  };

/** Responds to a batch and, on the site's own origin, renews its user's cookie. */
export const createLogEventsReply =
  (logEvents: Handler<'logEvents'>, traffic: Traffic): Reply<'logEvents'> =>
  async ({ c, exchange, input, caller, ignored }) => {
    const output = await logEvents(input, caller);
    for (const result of output.event) {
      if (result.error !== undefined) traffic.refuse(result.error.code);
      else if (result.duplicate) traffic.numbers.duplicates += 1;
      else traffic.numbers.kept += 1;
    }
    const cookie = userCookie(c.req.raw.headers, input.userUUID, input.cookieDomain);
    return successResponse(exchange, output, ignored, cookie === undefined ? undefined : { 'Set-Cookie': cookie });
  };
