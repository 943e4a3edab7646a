/**
 * logEvent and logEvents, step by step, for a request that operation-route.ts has read, authenticated and checked:
 *
 * 1. `refusePageNames`: a page may name a contact only by its handle.
 * 2. `contextOf`: when the request arrived, the error of the sender's clock, robots, labels.
 * 3. `toEvent`: checks the time, and makes the event that is stored.
 * 4. `limitNewNames`: bounds the names that one network may add.
 * 5. `store.logEvents`: recognizes repeats, finds the user and the contact, and returns when the commit is on the disk.
 * 6. `toResult`: what the store took, knew already, or refused. `keepRefused` lists what was refused, for a later fix.
 * 7. `createLogEventReply`, `createLogEventsReply`: counts the outcomes, and responds with JSON, an image, or a renewed cookie.
 */
import type { Problem } from '@firsthand/contract/answer';
import { check } from '@firsthand/contract/checking';
import { batchEvent } from '@firsthand/contract/event';
import type { AnswerOf, InputOf } from '@firsthand/contract/operations';
import { type RequestContext, unlikelyTime } from '../../ingest/event-time.ts';
import { newEvent } from '../../ingest/new-event.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { EventBatch, EventOutcome, NewEvent, Store } from '../../store/store.ts';
import { type Answering, type AnsweringAll, askerOf, type Caller } from '../access/caller.ts';
import type { LimitNewNames } from '../access/new-names.ts';
import { headersOf, problemAnswer } from '../answers/answers.ts';
import { type Reply, refusalOf, successAnswer } from '../operation-route.ts';
import { entryAlone, isKeptCode, refusedBatch, refusedRequest } from '../refused/refused-requests.ts';
import { pageNameProblem, refusePageNames } from '../request/contact-names.ts';
import type { Traffic } from '../traffic.ts';
import { createRequestContexts } from './request-context.ts';
import { userCookie } from './user-cookie.ts';

type EventResult = AnswerOf<'logEvents'>['event'][number];

const isEvent = (entry: NewEvent | Problem): entry is NewEvent => 'eventUUID' in entry;
const isProblem = (result: EventResult | Problem): result is Problem => 'code' in result;

/** The problem of an event with an unlikely time; undefined if it has none. `field` is the path of its eventTime. */
const timeProblem = (eventTime: number | undefined, context: RequestContext, field: string): Problem | undefined => {
  const unlikely = unlikelyTime(eventTime, context);
  return unlikely === undefined ? undefined : { code: 'invalid_field', message: `\`${field}\` ${unlikely}`, field };
};

/** Checks the time of logEvent's event, and returns the event to store. */
const toEvent = (input: InputOf<'logEvent'>, context: RequestContext): NewEvent => {
  const problem = timeProblem(input.eventTime, context, 'eventTime');
  if (problem) throw refusalOf(problem);
  return newEvent(input, input, context);
};

/** Checks one entry of a batch, and returns the event to store or its problem. */
const toEventOfBatch = (
  entry: unknown,
  at: string,
  envelope: InputOf<'logEvents'>,
  context: RequestContext,
): NewEvent | Problem => {
  const checked = check(batchEvent, entry, at);
  if (!checked.ok) return checked.problem;
  const problem =
    timeProblem(checked.value.eventTime, context, `${at}.eventTime`) ??
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

/** Checks the entries of a batch, and returns the event to store or the problem of each. */
export const checkEntries = (input: InputOf<'logEvents'>, context: RequestContext): (NewEvent | Problem)[] =>
  input.event.map((entry, index) => toEventOfBatch(entry, `event[${index}]`, input, context));

/** Names each property: with a spread of the asker, a single event costs the server a quarter more (Node 20). */
const batchBy = (caller: Caller, events: readonly NewEvent[]): EventBatch => {
  const { account, token, browser } = askerOf(caller);
  return { account, token, browser, receivedTime: caller.time, events };
};

/** The result of an event that the store took or refused. */
const toResult = ({ eventUUID }: NewEvent, outcome: EventOutcome, index: number): EventResult | Problem => {
  if ('refused' in outcome) {
    return { code: outcome.refused, message: outcome.message, field: `event[${index}].${outcome.field}` };
  }
  return outcome.kept ? { status: '200', eventUUID } : { status: '200', eventUUID, duplicate: true };
};

export const createLogEvent = (
  store: Pick<Store, 'logEvents' | 'keepRefused'>,
  {
    contextOf = createRequestContexts(),
    limitNewNames = (_, events) => events,
  }: { readonly contextOf?: ReturnType<typeof createRequestContexts>; readonly limitNewNames?: LimitNewNames } = {},
): AnsweringAll<'logEvent' | 'logEvents'> => {
  /**
   * Stores the refused entries on the list, and returns the results. If the store refuses that, they get its refusal as their
   * problem, so that the client sends them again. Other entries are not affected.
   */
  const keepRefused = async (
    results: readonly (EventResult | Problem)[],
    input: InputOf<'logEvents'>,
    caller: Caller,
  ): Promise<readonly (EventResult | Problem)[]> => {
    const { tokenUUID: token, time } = caller;
    const isKept = (result: EventResult | Problem): result is Problem => isProblem(result) && isKeptCode(result.code);
    const requests = results.flatMap((result, index) =>
      isKept(result) ? refusedRequest('logEvent', entryAlone(input.event[index], input), result, { token, time }) : [],
    );
    if (requests.length === 0) return results;
    try {
      await store.keepRefused(refusedBatch(caller, requests));
      return results;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, message } = error;
      return results.map((result) => (isKept(result) ? { code, message } : result));
    }
  };

  return {
    logEvent: async (input, caller) => {
      refusePageNames(caller, input);
      const event = toEvent(input, contextOf(input, caller));
      const outcomes = await store.logEvents(batchBy(caller, limitNewNames(caller, [event])));
      const outcome = outcomes[0] as EventOutcome;
      if ('refused' in outcome) throw new Refusal(outcome.refused, outcome);
      return outcome.kept ? { eventUUID: event.eventUUID } : { eventUUID: event.eventUUID, duplicate: true };
    },

    logEvents: async (input, caller) => {
      refusePageNames(caller, input);
      const entries = checkEntries(input, contextOf(input, caller));
      const events = limitNewNames(caller, entries.filter(isEvent));
      const outcomes = events.length > 0 ? await store.logEvents(batchBy(caller, events)) : [];
      let next = 0;
      const results = entries.map((entry, index) =>
        isEvent(entry) ? toResult(entry, outcomes[next++] as EventOutcome, index) : entry,
      );
      const kept = await keepRefused(results, input, caller);
      return { event: kept.map((result) => (isProblem(result) ? problemAnswer(result) : result)) };
    },
  };
};

/** A GIF of one transparent pixel. */
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/**
 * Whether a client wants an image, as an e-mail or a page without scripts does. Some browsers accept any type when they request an
 * image, so Sec-Fetch-Dest counts as well (Fetch Metadata Request Headers, section 2.1).
 */
const wantsImage = (headers: Headers): boolean => {
  const accept = headers.get('accept') || '*/*';
  if (accept.includes('application/json')) return false;
  if (accept.includes('image/') || headers.get('sec-fetch-dest') === 'image') return true;
  return !accept.includes('*/*') && !accept.includes('application/*');
};

/** Responds to an event with JSON, or with an image to a GET for one. */
export const createLogEventReply =
  (logEvent: Answering<'logEvent'>, { numbers }: Traffic): Reply<'logEvent'> =>
  async ({ c, exchange, input, caller, ignored }) => {
    const { method, headers } = c.req.raw;
    const answer = await logEvent(input, caller);
    if (answer.duplicate) numbers.duplicates += 1;
    else numbers.kept += 1;
    if (method !== 'GET' || !wantsImage(headers)) return successAnswer(exchange, answer, ignored);
    const image = { 'Content-Type': 'image/gif', 'Cross-Origin-Resource-Policy': 'cross-origin' };
    return new Response(gif, { headers: { ...headersOf(exchange), ...image } });
  };

/** Responds to a batch and, on the site's own origin, renews the cookie of its user. */
export const createLogEventsReply =
  (logEvents: Answering<'logEvents'>, traffic: Traffic): Reply<'logEvents'> =>
  async ({ c, exchange, input, caller, ignored }) => {
    const answer = await logEvents(input, caller);
    for (const result of answer.event) {
      if (result.error !== undefined) traffic.refuse(result.error.code);
      else if (result.duplicate) traffic.numbers.duplicates += 1;
      else traffic.numbers.kept += 1;
    }
    const cookie = userCookie(c.req.raw.headers, input.userUUID, input.cookieDomain);
    return successAnswer(exchange, answer, ignored, cookie === undefined ? undefined : { 'Set-Cookie': cookie });
  };
