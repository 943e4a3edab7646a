/**
 * Generates events like a real site's. Visitors generate about ten events per visit and return over the following days.
 * A few visitors never stop (tests, wall displays); the busiest causes up to 40 % of all events. The same number of
 * events produces the same events.
 */
import { createRandomNumbers as createRandom } from '../src/shared/random.ts';
import type { NewEvent } from '../src/store/store.ts';

/** The share of each of the 20 eventIDs, in per mille. The sixth eventID has 5 % of all events. */
const shares = [250, 150, 100, 80, 70, 50, 50, 40, 40, 30, 30, 20, 20, 20, 10, 10, 10, 10, 6, 4];
export const countedEventID = 6;
export const eventIDCount = shares.length;

const maxBusiestEvents = 2_000_000;
const eventsPerUser = 50;
const eventsPerVisit = 10;
/** One in this many visitors signs up, at the start of a visit. */
const usersPerContact = 20;
const concurrentVisits = 100;

/** The busiest user's approximate number of events. */
export const countBusiestEvents = (events: number): number => Math.min(events * 0.4, maxBusiestEvents);

export const userName = (user: number): string => `user_${String(user).padStart(16, '0')}`;
export const busiestUser = userName(0);
export const contactName = (user: number): string => `contact_${String(user).padStart(13, '0')}`;
export const contactAddress = (user: number): string => `visitor-${user}@example.com`;

export { createRandom };

const eventIDs = shares.flatMap((share, index) => Array.from({ length: share }, () => index + 1));
const campaigns = ['spring', 'summer', 'autumn', 'winter', 'newsletter', 'search', 'partner', 'none'];

/** Three attributes; one event in 10,000 has a fourth. */
export const createAttributes = (random: () => number): [string, string][] => {
  const attributes: [string, string][] = [
    ['path', `/products/${Math.floor(random() * 500)}`],
    ['price', `${Math.floor(random() * 90)}.90`],
    ['campaign', campaigns[Math.floor(random() * campaigns.length)] as string],
  ];
  if (random() < 0.000_1) attributes.push(['coupon', 'welcome']);
  return attributes;
};

/** An eventUUID like those of the tracker and the server: nine characters of time, then a unique part. */
export const createEventUUID = (time: number, number: number): string =>
  time.toString(36).padStart(9, '0') + number.toString(36).padStart(12, '0');

interface Visit {
  readonly event: NewEvent;
  /** The visitor's number, if they sign up just before the event. */
  readonly signsUp: number | undefined;
}

/** The number of visitors who generate `events` events. */
export const countUsers = (events: number): number => Math.max(20, Math.ceil((events * 0.6) / eventsPerUser));

/** Returns a function that generates the next event, at `time`. */
export const createVisits = (events: number) => {
  const random = createRandom(1);
  const users = countUsers(events);
  const visits = Math.ceil((events * 0.6) / eventsPerVisit);
  const busiestShare = countBusiestEvents(events) / events;
  const signedUp = new Set<number>();
  const activeVisits = Array.from({ length: concurrentVisits }, () => ({ user: 0, left: 0 }));
  let startedVisits = 0;
  let created = 0;

  /** Usually a visitor whose first visit was in the last fifth of the time, sometimes any earlier visitor. */
  const nextVisitor = (): number => {
    startedVisits += 1;
    const newest = Math.min(users - 1, Math.ceil((startedVisits / visits) * users));
    const back = random() < 0.05 ? random() * newest : random() ** 3 * Math.min(newest, users / 5);
    // Lower numbers are the busy users.
    return 4 + Math.max(0, Math.floor(newest - back));
  };

  return (time: number): Visit => {
    created += 1;
    let user = 0;
    let signsUp: number | undefined;
    const chance = random();
    if (chance >= busiestShare) {
      if (chance > 0.985) user = 1 + Math.floor(random() * 3);
      else {
        const visit = activeVisits[Math.floor(random() * concurrentVisits)] as (typeof activeVisits)[number];
        if (visit.left === 0) {
          visit.user = nextVisitor();
          visit.left = 1 + Math.floor(random() * (2 * eventsPerVisit - 1));
          if (visit.user % usersPerContact === 7 && !signedUp.has(visit.user)) {
            signedUp.add(visit.user);
            signsUp = visit.user;
          }
        }
        visit.left -= 1;
        user = visit.user;
      }
    }
    const event = {
      userUUID: userName(user),
      contactUUID: null,
      eventID: eventIDs[Math.floor(random() * eventIDs.length)] as number,
      externalID: null,
      eventName: null,
      mayAddName: false,
      eventUUID: createEventUUID(time, created),
      eventTime: time,
      timeReplaced: false,
      attributes: createAttributes(random),
    };
    return { event, signsUp };
  };
};
