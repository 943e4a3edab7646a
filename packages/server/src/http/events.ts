import type { Problem } from '@firsthand/contract/answer';
import { check } from '@firsthand/contract/checking';
import { statusOf } from '@firsthand/contract/errors';
import { batchEvent } from '@firsthand/contract/event';
import { limits } from '@firsthand/contract/limits';
import type { AnswerOf, InputOf } from '@firsthand/contract/operations';
import { createClockErrors } from '../ingest/clock-errors.ts';
import type { Arrival } from '../ingest/event-time.ts';
import { newEvent } from '../ingest/new-event.ts';
import { Refusal } from '../refusal.ts';
import type { EventOutcome, NewEvent, Store, StoredEvent } from '../store/store.ts';
import { countEdges } from './calendar.ts';
import { type AnsweringAll, accountOf, askerOf, type Caller } from './caller.ts';
import { parseCursor, toCursor } from './cursor.ts';
import { isoTime } from './iso-time.ts';

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

/** What became of an event that the store was given: an outcome for its event. */
const outcomeAnswer = ({ eventUUID }: NewEvent, outcome: EventOutcome, at: string): BatchAnswer => {
  if (outcome.kept) return { status: '200', eventUUID };
  if ('duplicate' in outcome) return { status: '200', eventUUID, duplicate: true };
  const { refused, field, message } = outcome;
  return problemAnswer({ code: refused, message, field: `${at}.${field}` });
};

const problemAnswer = (error: Problem): BatchAnswer => ({ status: String(statusOf(error.code)), error });

/** One entry of a batch: an event to keep, or why it isn't one. */
const checkEntry = (
  entry: unknown,
  at: string,
  envelope: InputOf<'logEvents'>,
  arrival: Arrival,
): NewEvent | Problem => {
  const checked = check(batchEvent, entry, at);
  if (!checked.ok) return checked.problem;
  const event = newEvent(checked.value, envelope, arrival);
  if (event.userUUID !== null || event.contactUUID !== null) return event;
  const field = `${at}.userUUID`;
  return { code: 'missing_field', message: `${field} is required unless contactUUID is populated`, field };
};

const isEvent = (entry: NewEvent | Problem): entry is NewEvent => 'eventUUID' in entry;

/** What is said of the sender of an event, or of a batch. */
type Sender = Pick<InputOf<'logEvents'>, 'userUUID' | 'sentTime'>;

const createArrivalOf = (): ((sender: Sender, caller: Caller) => Arrival) => {
  const clockErrorOf = createClockErrors();
  return ({ userUUID = '', sentTime }, { access, time }) => {
    const fromBrowser = access.kind === 'browser';
    const lateMilliseconds = sentTime === undefined ? 0 : time - sentTime;
    const clockError = fromBrowser ? clockErrorOf(`${access.token} ${userUUID}`, lateMilliseconds) : lateMilliseconds;
    return { receivedTime: time, clockError, fromBrowser };
  };
};

const createEventTaking = (store: Store): AnsweringAll<'logEvent' | 'logEvents'> => {
  const arrivalOf = createArrivalOf();
  return {
    logEvent: async (input, caller) => {
      const asker = askerOf(caller);
      const event = newEvent(input, input, arrivalOf(input, caller));
      const [outcome] = await store.logEvents({ ...asker, receivedTime: caller.time, events: [event] });
      if (outcome === undefined) throw new Error('the store answered nothing for an event');
      if ('refused' in outcome) throw new Refusal(outcome.refused, outcome);
      return outcome.kept ? { eventUUID: event.eventUUID } : { eventUUID: event.eventUUID, duplicate: true };
    },

    logEvents: async (input, caller) => {
      const asker = askerOf(caller);
      const arrival = arrivalOf(input, caller);
      const entries = input.event.map((entry, index) => checkEntry(entry, `event[${index}]`, input, arrival));
      const events = entries.filter(isEvent);
      const outcomes = events.length > 0 ? await store.logEvents({ ...asker, receivedTime: caller.time, events }) : [];
      let next = 0;
      return {
        event: entries.map((entry, index) =>
          isEvent(entry)
            ? outcomeAnswer(entry, outcomes[next++] as EventOutcome, `event[${index}]`)
            : problemAnswer(entry),
        ),
      };
    },
  };
};

export const createEvents = (store: Store): AnsweringAll<'logEvent' | 'logEvents' | 'getEvent' | 'countEvents'> => ({
  ...createEventTaking(store),

  getEvent: async ({ include, cursor, order = 'desc', limit = 100, ...filter }, caller) => {
    const account = accountOf(caller);
    const { events, next } = await store.getEvents({
      ...filter,
      account,
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

  countEvents: async ({ eventID, from, to, interval = 'day', timezone, include }, caller) => {
    const zone = timezone ?? caller.access.accountTimezone;
    const end = to ?? caller.time;
    if (end <= from) throw new Refusal('invalid_field', { field: 'to', message: 'to must be later than from' });
    const edges = countEdges(from, end, interval, zone, limits.bucketsPerCount);
    if (edges === undefined) {
      throw new Refusal('invalid_field', {
        field: 'interval',
        message: `interval must cut the time from from to to into at most ${limits.bucketsPerCount} parts`,
      });
    }
    const users = include?.includes('users') ?? false;
    const buckets = await store.countEvents({ account: accountOf(caller), eventID, edges, users });
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
});
