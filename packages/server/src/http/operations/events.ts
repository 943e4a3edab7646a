import type { Problem } from '@firsthand/contract/answer';
import { check } from '@firsthand/contract/checking';
import { batchEvent } from '@firsthand/contract/event';
import { limits } from '@firsthand/contract/limits';
import type { AnswerOf, InputOf } from '@firsthand/contract/operations';
import { type RequestContext, unlikelyTime } from '../../ingest/event-time.ts';
import { newEvent } from '../../ingest/new-event.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { CountBucket, EventBatch, EventOutcome, NewEvent, Store, StoredEvent } from '../../store/store.ts';
import { type AnsweringAll, accountOf, askerOf, type Caller } from '../access/caller.ts';
import type { LimitNewNames } from '../access/new-names.ts';
import { problemAnswer } from '../answers/answers.ts';
import { parseCursor, toCursor } from '../answers/cursor.ts';
import { isoTime } from '../answers/iso-time.ts';
import { refusalOf } from '../operation-route.ts';
import { entryAlone, isKeptCode, refusedBatch, refusedRequest } from '../refused/refused-requests.ts';
import { pageNameProblem, refusePageNames } from '../request/contact-names.ts';
import { edgesOf, endOfRange } from './calendar.ts';
import { createRequestContexts } from './request-context.ts';

type EventAnswer = AnswerOf<'getEvent'>['event'][number];
type BatchAnswer = AnswerOf<'logEvents'>['event'][number];

const whyAnswer = ({ rule, linkID, verified, claimID, mergedFrom }: StoredEvent['why']): EventAnswer['why'] => ({
  rule,
  ...(linkID !== null && { linkID }),
  ...(verified !== null && { verified }),
  ...(claimID !== null && { claimID }),
  ...(mergedFrom !== null && { mergedFrom }),
});

export const eventAnswer = (event: StoredEvent, withWhy = false): EventAnswer => ({
  eventUUID: event.eventUUID,
  eventID: event.eventID,
  eventName: event.eventName,
  eventTime: isoTime(event.eventTime),
  receivedTime: isoTime(event.receivedTime),
  ...(event.timeReplaced && { eventTimeReplaced: true }),
  userUUID: event.userUUID,
  contactUUID: event.contactUUID,
  eventAttrArray: event.attributes.map(([attrID, attrValue]) => ({ attrID, attrValue })),
  ...(withWhy && { why: whyAnswer(event.why) }),
});

/** Throws a Refusal if the range holds too many events to read them one by one, as `robots=exclude` requires. */
const checkFewEnough = (buckets: readonly CountBucket[]): void => {
  const count = buckets.reduce((sum, { events }) => sum + events, 0);
  if (count <= limits.eventsWithoutRobots) return;
  const [held, most] = [count, limits.eventsWithoutRobots].map((number) => number.toLocaleString('en'));
  const message = `The range from \`from\` to \`to\` holds ${held} events; \`robots=exclude\` takes at most ${most}. Choose a shorter range.`;
  throw new Refusal('invalid_field', { field: 'robots', message });
};

const isEvent = (entry: NewEvent | Problem): entry is NewEvent => 'eventUUID' in entry;

const isProblem = (result: BatchAnswer | Problem): result is Problem => 'code' in result;

/** The result of an event that the store took or refused. */
const resultOf = ({ eventUUID }: NewEvent, outcome: EventOutcome, index: number): BatchAnswer | Problem => {
  if ('refused' in outcome) {
    return { code: outcome.refused, message: outcome.message, field: `event[${index}].${outcome.field}` };
  }
  return outcome.kept ? { status: '200', eventUUID } : { status: '200', eventUUID, duplicate: true };
};

/** The problem of an event with an unlikely time; undefined if it has none. `field` is the path of its eventTime. */
const timeProblem = (eventTime: number | undefined, context: RequestContext, field: string): Problem | undefined => {
  const unlikely = unlikelyTime(eventTime, context);
  return unlikely === undefined ? undefined : { code: 'invalid_field', message: `\`${field}\` ${unlikely}`, field };
};

/** Checks one entry of a batch, and returns the event to store or its problem. */
const checkEntry = (
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

/** Names each property: with a spread of the asker, a single event costs the server a quarter more (Node 20). */
const batchBy = (caller: Caller, events: readonly NewEvent[]): EventBatch => {
  const { account, token, browser } = askerOf(caller);
  return { account, token, browser, receivedTime: caller.time, events };
};

/** Checks the entries of a batch, and returns the event to store or the problem of each. */
export const checkEntries = (input: InputOf<'logEvents'>, context: RequestContext): (NewEvent | Problem)[] =>
  input.event.map((entry, index) => checkEntry(entry, `event[${index}]`, input, context));

export const createEvents = (
  store: Store,
  {
    contextOf = createRequestContexts(),
    limitNewNames = (_, events) => events,
  }: { readonly contextOf?: ReturnType<typeof createRequestContexts>; readonly limitNewNames?: LimitNewNames } = {},
): AnsweringAll<'logEvent' | 'logEvents' | 'getEvent' | 'countEvents'> => {
  /**
   * Stores the refused entries on the list, and returns the results. If the store refuses that, they get its refusal as their
   * problem, so that the client sends them again. Other entries are not affected.
   */
  const keepRefused = async (
    results: readonly (BatchAnswer | Problem)[],
    input: InputOf<'logEvents'>,
    caller: Caller,
  ): Promise<readonly (BatchAnswer | Problem)[]> => {
    const { tokenUUID: token, time } = caller;
    const isKept = (result: BatchAnswer | Problem): result is Problem => isProblem(result) && isKeptCode(result.code);
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
      const context = contextOf(input, caller);
      const unlikely = timeProblem(input.eventTime, context, 'eventTime');
      if (unlikely) throw refusalOf(unlikely);
      const event = newEvent(input, input, context);
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
        isEvent(entry) ? resultOf(entry, outcomes[next++] as EventOutcome, index) : entry,
      );
      const kept = await keepRefused(results, input, caller);
      return { event: kept.map((result) => (isProblem(result) ? problemAnswer(result) : result)) };
    },

    getEvent: async (
      { include, cursor, order = 'desc', limit = 100, robots, contactExternalID, ...filter },
      caller,
    ) => {
      const account = accountOf(caller);
      const { events, next } = await store.getEvents({
        ...filter,
        account,
        externalID: contactExternalID,
        withoutRobots: robots === 'exclude',
        order,
        limit,
        beyond: parseCursor('events', cursor),
      });
      const definitions = include?.includes('definition') ? await store.getEventDefinitions(account) : undefined;
      const withWhy = include?.includes('why') ?? false;
      return {
        event: events.map((event) => eventAnswer(event, withWhy)),
        nextCursor: toCursor('events', next),
        ...(definitions && {
          eventDefinition: definitions.map(({ firstTime, lastTime, ...definition }) => ({
            ...definition,
            firstTime: isoTime(firstTime),
            lastTime: isoTime(lastTime),
          })),
        }),
      };
    },

    countEvents: async ({ eventID, eventName, from, to, interval = 'day', timezone, robots, include }, caller) => {
      const zone = timezone ?? caller.access.accountTimezone;
      const edges = edgesOf(from, endOfRange(from, to, caller.time), interval, zone, limits.bucketsPerCount);
      const users = include?.includes('users') ?? false;
      const query = { account: accountOf(caller), eventID, eventName, edges };
      const withoutRobots = robots === 'exclude';
      if (withoutRobots) checkFewEnough(await store.countEvents({ ...query, users: false }));
      const buckets = await store.countEvents({ ...query, withoutRobots, users });
      return {
        count: buckets.map((bucket, index) => ({
          from: isoTime(edges[index] as number),
          to: isoTime(edges[index + 1] as number),
          events: bucket.events,
          ...(bucket.users !== undefined && { users: bucket.users }),
        })),
        timezone: zone,
      };
    },
  };
};
