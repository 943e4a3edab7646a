/**
 * Matomo's API `Live.getLastVisitsDetails` with `format=json`: an array of visits, each with its actions in order.
 *
 * A visit's first page view gets the visit's campaign and referrer. Each visitor is a browser.
 */
import type { Row } from '../files/record.ts';
import type { Format, Message, Outcome } from './format.ts';
import { toLabels } from './labels.ts';
import { compact, invalidField, pathOf, toRecord, toText, toTimeOfSeconds, withoutQuery } from './values.ts';

interface Track {
  readonly event: string;
  readonly properties: Row | undefined;
}

/** The event for an action, by the action's type. Content impressions and abandoned carts are not events. */
const tracks = new Map<unknown, (action: Row) => Track>([
  [
    'event',
    ({ eventCategory, eventAction, eventName, eventValue, url }) => ({
      event: [eventCategory, eventAction].flatMap((part) => toText(part) ?? []).join(': ') || 'Event',
      properties: compact({ name: eventName, value: eventValue, path: pathOf(toText(url)) }),
    }),
  ],
  ['download', ({ url }) => ({ event: 'File downloaded', properties: compact({ url: withoutQuery(toText(url)) }) })],
  ['outlink', ({ url }) => ({ event: 'Outlink clicked', properties: compact({ url: withoutQuery(toText(url)) }) })],
  [
    'search',
    ({ siteSearchKeyword: keyword, siteSearchCategory: category, siteSearchCount: count }) => ({
      event: 'Site searched',
      properties: compact({ keyword, category, count }),
    }),
  ],
  [
    'goal',
    ({ goalName, goalId, revenue, url }) => ({
      event: 'Goal converted',
      properties: compact({ goalName, goalId, revenue, path: pathOf(toText(url)) }),
    }),
  ],
  [
    'ecommerceOrder',
    ({ orderId, revenue, revenueSubTotal, revenueTax, revenueShipping, revenueDiscount, items }) => ({
      event: 'Order completed',
      properties: compact({
        orderId,
        revenue,
        ...{ subtotal: revenueSubTotal, tax: revenueTax, shipping: revenueShipping, discount: revenueDiscount },
        items,
      }),
    }),
  ],
]);

/**
 * With Matomo's campaign plugin, a visit has all parts of the campaign. Otherwise, it has only the name and the
 * keyword.
 */
const campaignOf = (visit: Row): Row | undefined => {
  if (visit.referrerType !== 'campaign') return undefined;
  return compact({
    name: toText(visit.campaignName) ?? visit.referrerName,
    source: visit.campaignSource,
    medium: visit.campaignMedium,
    term: toText(visit.campaignKeyword) ?? visit.referrerKeyword,
    content: visit.campaignContent,
  });
};

const toMessage = (action: Row, common: Row, visitor: Row, arrival: Row): Message | undefined => {
  const url = toText(action.url);
  if (action.type === 'action') {
    const { referrer, campaign } = arrival;
    const page = compact({ url, path: pathOf(url), title: action.pageTitle, referrer });
    return { type: 'page', ...common, context: compact({ page, campaign, ...visitor }) };
  }
  const track = tracks.get(action.type)?.(action);
  return track && { type: 'track', ...common, ...track, context: compact(visitor) };
};

export const matomo: Format = {
  label: 'Matomo',
  fields: ['idVisit', 'actionDetails'],
  toMessages: (visit) => {
    const anonymousId = toText(visit.visitorId);
    const userId = toText(visit.userId);
    if (!Array.isArray(visit.actionDetails)) return [invalidField('actionDetails', visit.actionDetails, 'an array')];
    if (anonymousId === undefined && userId === undefined) return [{ skipped: 'no visitor' }];
    const { browserName: browser, operatingSystemName: os, deviceType: device, countryCode: country } = visit;
    const visitor = { labels: toLabels({ browser, os, device, country }) };
    let arrival: Row = { referrer: visit.referrerUrl, campaign: campaignOf(visit) };
    return visit.actionDetails.map((value: unknown, index): Outcome => {
      const action = toRecord(value);
      const timestamp = toTimeOfSeconds(action.timestamp);
      if (timestamp === undefined)
        return invalidField(
          `actionDetails[${index}].timestamp`,
          action.timestamp,
          `seconds since 1970 (visit ${toText(visit.idVisit) ?? ''})`,
        );
      const pageId = toText(action.pageId);
      const messageId = pageId && `matomo-${toText(visit.idSite) ?? ''}-${pageId}`;
      const message = toMessage(action, compact({ messageId, timestamp, anonymousId, userId }) ?? {}, visitor, arrival);
      if (message === undefined) return { skipped: 'not an event' };
      if (message.type === 'page') arrival = {};
      return { message };
    });
  },
};
