/** Visits of the sample shop: which pages a visitor views, and what else is logged. */

import { robotMark } from '@firsthand/contract/identifiers';
import { labelIDs } from '@firsthand/contract/labels';
import { createEventUUID } from '../ingest/new-event.ts';
import type { Attributes } from '../store/store.ts';
import type { Happening, Visitor } from './happenings.ts';
import type { Random } from './random.ts';
import {
  categories,
  currency,
  type Kind,
  kinds,
  origin,
  type Page,
  type Product,
  pages,
  products,
  readings,
  type Source,
} from './shop.ts';

/** Browser, operating system, device and how many have them. */
const devices = [
  [['Chrome', 'Windows', 'desktop'], 22],
  [['Microsoft Edge', 'Windows', 'desktop'], 7],
  [['Firefox', 'Windows', 'desktop'], 4],
  [['Safari', 'macOS', 'desktop'], 11],
  [['Chrome', 'macOS', 'desktop'], 5],
  [['Firefox', 'Linux', 'desktop'], 2],
  [['Safari', 'iOS', 'phone'], 25],
  [['Chrome', 'Android', 'phone'], 15],
  [['Samsung Internet for Android', 'Android', 'phone'], 4],
  [['Safari', 'iOS', 'tablet'], 4],
  [['Chrome', 'Android', 'tablet'], 1],
] as const;

const countries = [
  ['DE', 38],
  ['AT', 11],
  ['CH', 9],
  ['GB', 9],
  ['FR', 8],
  ['NL', 7],
  ['US', 7],
  ['PT', 4],
  ['SE', 3],
  ['JP', 2],
] as const;

interface Device {
  readonly browser: string;
  readonly os: string;
  readonly device: string;
  readonly country: string;
}

const labelsOf = ({ browser, os, device, country }: Device): Attributes => [
  [labelIDs.browser, browser],
  [labelIDs.os, os],
  [labelIDs.device, device],
  [labelIDs.country, country],
];

/** A new browser. What is not given is chosen. */
export const newVisitor = (random: Random, given: Partial<Device> = {}): Visitor => {
  const [browser, os, device] = random.weighted<readonly [string, string, string]>(devices);
  const country = random.weighted<string>(countries);
  return { userUUID: random.id(), labels: labelsOf({ browser, os, device, country, ...given }), robot: false };
};

/** A browser on a phone, of the same country. */
export const phoneBeside = (random: Random, { labels }: Visitor): Visitor => {
  const country = labels.find(([attrID]) => attrID === labelIDs.country)?.[1] as string;
  const [browser, os] = random.pick([
    ['Safari', 'iOS'],
    ['Chrome', 'Android'],
  ] as const);
  return newVisitor(random, { browser, os, device: 'phone', country });
};

/** How far a visit goes. */
export type Depth = 'one page' | 'some pages' | 'product' | 'cart' | 'checkout' | 'purchase';

export interface Visit {
  readonly happenings: Happening[];
  /** When the last page was viewed. */
  readonly end: number;
  /** What was bought: the order and its products. */
  readonly bought: { readonly order: string; readonly time: number } | undefined;
}

/** The time between two events of a visit. */
const leastPauseMs = 6_000;
const mostPauseMs = 75_000;

export interface VisitPlan {
  readonly visitor: Visitor;
  readonly source: Source;
  readonly start: number;
  readonly depth: Depth;
  /** The products; chosen if absent. */
  readonly wanted?: readonly Product[];
  /** The number of the order of a purchase. */
  readonly order?: string;
  /** What follows in the same visit. */
  readonly ending?: (visit: VisitLog) => void;
}

const euros = (amount: number): string => amount.toFixed(2);

/** Writes down the events of one visit, one after the other. */
export const createVisitLog = (
  random: Random,
  { visitor, source, start }: Pick<VisitPlan, 'visitor' | 'source' | 'start'>,
) => {
  const happenings: Happening[] = [];
  let time = start;
  let page: Page | undefined;
  const log = (kind: Kind, attributes: Attributes): void => {
    const mark: Attributes = visitor.robot ? [[robotMark.attrID, robotMark.attrValue]] : [];
    const event = {
      eventID: kinds[kind],
      eventName: null,
      mayAddName: false,
      eventUUID: createEventUUID(time, random.id().slice(0, 12)),
      eventTime: time,
      timeReplaced: false,
      userUUID: visitor.userUUID,
      contactUUID: null,
      externalID: null,
      attributes: [...attributes, ...mark, ...visitor.labels],
    };
    happenings.push({ time, do: 'log', by: 'browser', event });
  };
  return {
    happenings,
    /** The time of the next event. */
    now: () => time,
    log,
    pause: (least = leastPauseMs, most = mostPauseMs): void => {
      time += random.between(least, most);
    },
    view(next: Page): void {
      if (page !== undefined) time += random.between(leastPauseMs, mostPauseMs);
      const referrer = page === undefined ? source.referrer : origin + page.path;
      const campaign = page === undefined ? source.campaign : [];
      log('viewed', [['path', next.path], ['referrer', referrer], ...campaign, ['title', next.title]]);
      page = next;
    },
  };
};
export type VisitLog = ReturnType<typeof createVisitLog>;

const searches = ['green tea', 'teapot', 'gift', 'rooibos', 'kettle', 'matcha', 'decaf', 'darjeeling'];

const wander = (random: Random, visit: VisitLog): void => {
  if (random.chance(0.12)) {
    visit.view(pages.search);
    visit.log('searched', [['query', random.pick(searches)]]);
    return;
  }
  visit.view(random.pick(random.chance(0.65) ? categories : readings));
};

const chosenProducts = (random: Random): Product[] => {
  const count = random.weighted([
    [1, 6],
    [2, 3],
    [3, 1],
  ] as const);
  return Array.from({ length: count }, () => random.pick(products));
};

/** A visit from its first page as far as its depth says. */
export const visitOf = (random: Random, plan: VisitPlan): Visit => {
  const { source, depth, wanted, order, ending } = plan;
  const visit = createVisitLog(random, plan);
  const ended = (bought?: Visit['bought']): Visit => {
    ending?.(visit);
    return { happenings: visit.happenings, end: visit.now(), bought };
  };
  visit.view(source.lands(random));
  if (depth === 'one page') return ended();
  for (let count = random.between(1, 3); count > 0; count -= 1) wander(random, visit);
  if (depth === 'some pages') return ended();

  const chosen = wanted ?? chosenProducts(random);
  const cart: { readonly product: Product; readonly quantity: number }[] = [];
  for (const product of chosen) {
    const { name, category, price } = product;
    const known: Attributes = [
      ['product', name],
      ['category', category],
      ['price', euros(price)],
    ];
    visit.view(product);
    visit.log('product', known);
    if (depth === 'product') continue;
    const quantity = random.chance(0.2) ? 2 : 1;
    visit.pause();
    visit.log('cart', [...known, ['quantity', String(quantity)]]);
    cart.push({ product, quantity });
  }
  if (depth === 'product') return ended();
  visit.view(pages.cart);
  if (depth === 'cart') return ended();
  visit.view(pages.checkout);
  const count = String(cart.reduce((sum, { quantity }) => sum + quantity, 0));
  visit.log('checkout', [['quantity', count]]);
  if (depth === 'checkout' || order === undefined) return ended();
  visit.view(pages.thanks);
  const amount = cart.reduce((sum, { product, quantity }) => sum + product.price * quantity, 0);
  visit.log('purchased', [
    ['order', order],
    ['amount', euros(amount)],
    ['currency', currency],
    ['quantity', count],
  ]);
  return ended({ order, time: visit.now() });
};
