import { limits } from '@firsthand/contract/limits';
import type { OutputOf } from '@firsthand/contract/operations';
import { Refusal } from '../../shared/refusal.ts';
import type { CountBucket, Store, StoredEvent } from '../../store/store.ts';
import { accountOf, type Handlers } from '../access/caller.ts';
import { parseCursor, toCursor } from '../responses/cursor.ts';
import { isoTime } from '../responses/iso-time.ts';
import { edgesOf, endOfRange } from './calendar.ts';

type EventResponse = OutputOf<'getEvent'>['event'][number];

const whyResponse = ({ rule, linkID, verified, claimID, mergedFrom }: StoredEvent['why']): EventResponse['why'] => ({
  rule,
  ...(linkID !== null && { linkID }),
  ...(verified !== null && { verified }),
  ...(claimID !== null && { claimID }),
  ...(mergedFrom !== null && { mergedFrom }),
});

export const eventResponse = (event: StoredEvent, withWhy = false): EventResponse => ({
  eventUUID: event.eventUUID,
  eventID: event.eventID,
  eventName: event.eventName,
  eventTime: isoTime(event.eventTime),
  receivedTime: isoTime(event.receivedTime),
  ...(event.timeReplaced && { eventTimeReplaced: true }),
  userUUID: event.userUUID,
  contactUUID: event.contactUUID,
  eventAttrArray: event.attributes.map(([attrID, attrValue]) => ({ attrID, attrValue })),
  ...(withWhy && { why: whyResponse(event.why) }),
});

/** Throws a Refusal if the range has too many events to read one by one, as `robots=exclude` requires. */
const checkFewEnough = (buckets: readonly CountBucket[]): void => {
  const count = buckets.reduce((sum, { events }) => sum + events, 0);
  if (count <= limits.eventsWithoutRobots) return;
  const [total, max] = [count, limits.eventsWithoutRobots].map((number) => number.toLocaleString('en'));
  const message = `The range from \`from\` to \`to\` has ${total} events; \`robots=exclude\` allows at most ${max}. Choose a shorter range.`;
  throw new Refusal('invalid_field', { field: 'robots', message });
};

export const createEvents = (
  store: Pick<Store, 'getEvents' | 'getEventDefinitions' | 'countEvents'>,
): Handlers<'getEvent' | 'countEvents'> => ({
  getEvent: async ({ include, cursor, order = 'desc', limit = 100, robots, contactExternalID, ...filter }, caller) => {
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
      event: events.map((event) => eventResponse(event, withWhy)),
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
});
