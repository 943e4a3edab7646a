/**
 * A feed of synthetic site events: visitors generate about ten events per visit and return over the following weeks.
 * Every 20th user is linked; each contact has two users. The same number of events produces the same feed.
 */
import { labelIDs } from '@firsthand/contract/labels';
import type { AttributeColumn, EventFeedPage, ReportFeed } from '../src/store/report-feed.ts';
import { createRandom } from './visits.ts';

const day = 86_400_000;
export const firstTime = Date.UTC(2026, 0, 1);
export const days = 30;
const eventsPerVisit = 10;
const eventsPerUser = 50;
/** Every nth user is linked to a contact; each contact has two users. */
const usersPerLink = 20;
/** Consecutive visits per day, at about ten minutes each. */
const visitsPerDay = 144;

const pages = Array.from({ length: 500 }, (_, page) => `/products/${page}`);
const campaigns = ['spring', 'summer', 'autumn', 'winter', 'newsletter', 'search', 'partner'];
const browsers = ['Chrome', 'Safari', 'Firefox', 'Edge', 'Samsung Internet'];
const referrers = [
  ...['https://www.google.com/', 'https://duckduckgo.com/', 'https://news.example/', 'https://social.example/feed'],
  ...Array.from({ length: 20 }, (_, blog) => `https://blog-${blog}.example/posts/${blog}`),
  'https://shop.example/products/1',
];
const countries = ['DE', 'US', 'FR', 'GB', 'ES', 'IT', 'NL', 'PL', 'SE', 'BR', 'IN', 'JP'];
const prices = Array.from({ length: 90 }, (_, price) => `${price}.90`);

/** A funnel's eventIDs. Most events are page views. */
export const [viewEventID, priceEventID, purchaseEventID] = [1, 2, 3];

const attribute = (attrID: string, texts: readonly string[], rows: number[], which: number[]): AttributeColumn => ({
  attrID,
  texts,
  rows: Uint32Array.from(rows),
  which: Uint32Array.from(which),
});

/** Creates a feed of events. Also returns the number of `users` and `contacts`. */
export const createSyntheticFeed = (
  events: number,
): { readonly feed: ReportFeed; readonly users: number; readonly contacts: number } => {
  const users = Math.ceil(events / eventsPerUser);
  /** The number of concurrent visits. */
  const concurrentVisits = Math.max(1, Math.round(events / days / visitsPerDay / eventsPerVisit));
  const fill = (first: number, count: number): EventFeedPage => {
    const createList = () => ({ rows: [] as number[], which: [] as number[] });
    const [path, campaign, browser, price, referrer, country] = [
      createList(),
      createList(),
      createList(),
      createList(),
      createList(),
      createList(),
    ];
    const fed = {
      count,
      sequence: new Float64Array(count),
      user: new Float64Array(count),
      contact: new Float64Array(count),
      eventID: new Int32Array(count),
      eventTime: new Float64Array(count),
    };
    for (let row = 0; row < count; row += 1) {
      const nth = first + row;
      const random = createRandom(nth);
      // Events from concurrent visits alternate.
      const visit = Math.floor(nth / (concurrentVisits * eventsPerVisit)) * concurrentVisits + (nth % concurrentVisits);
      const user = 1 + ((Math.imul(visit, 2_654_435_761) >>> 0) % users);
      const kind = random();
      fed.sequence[row] = nth + 1;
      fed.user[row] = user;
      fed.eventID[row] = kind < 0.8 ? viewEventID : kind < 0.95 ? priceEventID : purchaseEventID;
      fed.eventTime[row] = Math.floor(firstTime + (nth / events) * days * day);
      path.rows.push(row);
      path.which.push(Math.floor(random() ** 2 * pages.length));
      browser.rows.push(row);
      browser.which.push(user % browsers.length);
      country.rows.push(row);
      country.which.push((user >> 3) % countries.length);
      if (visit % 3 === 0) {
        campaign.rows.push(row);
        campaign.which.push(visit % campaigns.length);
        referrer.rows.push(row);
        referrer.which.push(Math.floor(random() ** 3 * referrers.length));
      }
      if (kind >= 0.95) {
        price.rows.push(row);
        price.which.push(Math.floor(random() * prices.length));
      }
    }
    const lists = [
      ['path', pages, path],
      ['campaign', campaigns, campaign],
      ['browser', browsers, browser],
      ['price', prices, price],
      ['referrer', referrers, referrer],
      [labelIDs.country, countries, country],
    ] as const;
    return {
      ...fed,
      attributes: lists.flatMap(([attrID, texts, list]) =>
        list.rows.length > 0 ? [attribute(attrID, texts, list.rows, list.which)] : [],
      ),
      through: first + count,
      firstSequence: 1,
      more: first + count < events,
    };
  };
  const linkedUsers = Math.floor(users / usersPerLink);
  return {
    users,
    contacts: Math.ceil(linkedUsers / 2),
    feed: {
      feedEvents: async ({ beyond, limit }) => fill(beyond, Math.min(limit, events - beyond)),
      feedOwners: async ({ since }) => ({
        position: '1',
        reset: since === null,
        users:
          since === null
            ? Array.from({ length: linkedUsers }, (_, nth) => ({
                user: (nth + 1) * usersPerLink,
                stretches: [{ after: 0, through: Infinity, contact: 1 + (nth >> 1) }],
              }))
            : [],
        merged: since === null ? [] : null,
        erased: [],
        more: false,
      }),
    },
  };
};
