/** Simulates a month at the sample shop. Returns the actions in chronological order, for `fill.ts` to store. */
import { check } from '@firsthand/contract/checking';
import { robotMark } from '@firsthand/contract/identifiers';
import { labelIDs } from '@firsthand/contract/labels';
import { type Operation, operations } from '@firsthand/contract/operations';
import { refusedRequest } from '../http/refused/refused-requests.ts';
import { createEventUUID } from '../ingest/new-event.ts';
import { createRandom, type Random } from '../shared/random.ts';
import type { NewEvent, Store } from '../store/store.ts';
import {
  type Change,
  type Journey,
  journeys,
  journeyWeights,
  passerby,
  robot,
  type Step,
  stories,
} from './journeys.ts';
import * as shop from './shop.ts';

type CallName = Exclude<Change, 'voidLink'> | 'createContact' | 'addRefused';
/** A call to the store, except for the fields that all calls share: the account, the token and the time. */
type Call<Name extends CallName> = {
  readonly call: Name;
  readonly request: Omit<Parameters<Store[Name]>[0], 'account' | 'token' | 'browser' | 'by' | 'time'>;
};
/** `voidLink` voids a browser's link to a contact. */
export type Action = { readonly time: number; readonly by: 'browser' | 'server' } & (
  | { readonly call: 'logEvent'; readonly request: NewEvent }
  | { readonly call: 'voidLink'; readonly request: { readonly userUUID: string; readonly contactUUID: string } }
  | { [Name in CallName]: Call<Name> }[CallName]
);
type Texts = Readonly<Record<string, string>>;

export const defaultEvents = 40_000;
const eventsPerJourney = 43;
const eventsPerMistake = 1_000;
const robotShare = 0.025;
/** The minimum time between the last event and the end of the month. */
const marginMs = 20_000;
const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** Picks a visit's start time, weighted by hour and weekday. */
const pickVisitTime = (random: Random, from: number, to: number): number => {
  for (;;) {
    const time = random.between(from, to - 1);
    const date = new Date(time);
    const weight = (shop.hourWeights[date.getUTCHours()] ?? 0) * (shop.weekdayWeights[date.getUTCDay()] ?? 0);
    if (random.chance(weight / shop.maxWeight)) return time;
  }
};

const createEvent = (random: Random, name: shop.EventName, eventTime: number, attributes: Texts): NewEvent => ({
  ...{ eventID: shop.eventIDs[name], eventName: null, mayAddName: false, attributes: Object.entries(attributes) },
  ...{ eventUUID: createEventUUID(eventTime, random.id().slice(0, 12)), eventTime, timeReplaced: false },
  ...{ userUUID: null, contactUUID: null, externalID: null },
});

/**
 * `spec`: browser, operating system, device and country, or `robot`. The returned labels are the attributes that the
 * server adds to events.
 */
export const createBrowser = (random: Random, spec?: string) => {
  const values = spec ?? `${random.weighted(shop.deviceWeights)}/${random.weighted(shop.countryWeights)}`;
  const [browser = '', os = '', device = '', country = ''] = values.split('/');
  const { browser: browserID, os: osID, device: deviceID, country: countryID } = labelIDs;
  const labels: Texts = { [browserID]: browser, [osID]: os, [deviceID]: device, [countryID]: country };
  return { userUUID: random.id(), labels: spec === 'robot' ? { [robotMark.attrID]: robotMark.attrValue } : labels };
};
type Browser = ReturnType<typeof createBrowser>;

interface Visit extends Pick<Step, 'wants' | 'becomes'> {
  readonly browser: Browser;
  readonly from: shop.SourceName;
  readonly start: number;
  readonly depth: shop.Depth;
  readonly order?: string;
}

/** Simulates a visit. Returns its events. */
export const playVisit = (random: Random, { browser, from, start, depth, wants, order = '', becomes }: Visit) => {
  const { userUUID, labels } = browser;
  const { referrer, campaign, paths } = shop.sources[from];
  const events: NewEvent[] = [];
  let origin: Texts = { referrer, ...campaign };
  let time = start;
  const log = (name: shop.EventName, attributes: Texts): void => {
    events.push({ ...createEvent(random, name, time, { ...attributes, ...labels }), userUUID });
    time += random.between(2_000, 20_000);
  };
  const view = (path: string, name?: shop.EventName, attributes: Texts = {}): void => {
    if (events.length > 0) time += random.between(4_000, 50_000);
    log('Page viewed', { path, title: `${shop.titles[path]} – Sample shop`, ...origin });
    if (name) log(name, attributes);
    origin = { referrer: shop.origin + path };
  };
  const reaches = (other: shop.Depth): boolean => shop.depths.indexOf(depth) >= shop.depths.indexOf(other);

  view(random.pick(paths));
  for (let count = reaches('some pages') ? random.between(1, 3) : 0; count > 0; count -= 1) {
    if (random.chance(0.12)) view('/search', 'Searched', { query: random.pick(shop.searches) });
    else view(random.pick(random.chance(0.65) ? shop.categoryPaths : shop.articlePaths));
  }
  // The shop's first products sell best.
  const chooseProduct = () => shop.products[Math.floor(random.next() ** 1.5 * shop.products.length)] as shop.Product;
  const chosenProducts = wants ?? Array.from({ length: random.pick([1, 1, 1, 2, 2, 3]) }, chooseProduct);
  let [amount, quantity] = [0, 0];
  for (const { name, category, path, price } of reaches('product') ? chosenProducts : []) {
    const product = { product: name, category, price: price.toFixed(2) };
    view(path, 'Product viewed', product);
    if (!reaches('cart')) continue;
    const count = random.pick([1, 1, 1, 1, 2]);
    log('Added to cart', { ...product, quantity: String(count) });
    quantity += count;
    amount += count * price;
  }
  const total = { amount: amount.toFixed(2), quantity: String(quantity) };
  if (reaches('cart')) view('/cart');
  if (reaches('checkout')) view('/checkout', 'Checkout started', { quantity: total.quantity });
  if (reaches('purchase')) view('/thanks', 'Purchased', { order, ...total, currency: shop.currency });
  const form = becomes && shop.forms[becomes];
  if (form) view(form.path, form.event);
  return events;
};

const unsubscribeFields = {
  ...{ fields: {}, attributes: [], contactStatus: 'unsubscribed' },
  ...{ addedTags: [], removedTags: ['newsletter'] },
};

/** Returns a function that simulates a journey and returns its actions, except actions after the end of the month. */
const createPlayer = (random: Random, now: number) => {
  const daysBefore = (days: number): number => Math.floor(now - days * dayMs);
  const namesakes = new Map<string, number>();
  let number = 1_000;
  const nextNumber = (prefix: string): string => {
    number += 1;
    return `${prefix}${number}`;
  };
  const createPerson = (domain: string, name = `${random.pick(shop.firstNames)} ${random.pick(shop.lastNames)}`) => {
    const [contactFirstname = '', contactLastname = ''] = name.split(' ');
    const local = `${contactFirstname}.${contactLastname}`.toLowerCase();
    const count = namesakes.get(local) ?? 0;
    namesakes.set(local, count + 1);
    const address = `${local}${count > 0 ? count + 1 : ''}@${domain}`;
    return { name, contactUUID: random.id(), address, fields: { contactFirstname, contactLastname } };
  };
  /** Picks the time of a first visit, more likely in later weeks or soon after a newsletter. */
  const pickArrival = (from: shop.SourceName): number => {
    if (from === 'letter') return daysBefore(random.pick(shop.newsletterDaysAgo) - 1.7 * random.next() ** 2);
    if (from === 'ads') return pickVisitTime(random, daysBefore(shop.adsDaysAgo.from), daysBefore(shop.adsDaysAgo.to));
    const time = pickVisitTime(random, daysBefore(30), now);
    return random.chance((now - time) / (75 * dayMs)) ? pickArrival(from) : time;
  };

  return (journey: Journey): readonly Action[] => {
    const actions: Action[] = [];
    const self = createPerson(random.pick(['example.com', 'example.org']), journey.self);
    const other = createPerson('example.net', journey.other === 'same' ? self.name : journey.other);
    const browsers: Record<string, Browser> = {};
    let source = random.weighted(shop.sourceWeights[journey.sources ?? 'visitors']);
    let time: number | undefined;
    let claimID = '';

    const takeStep = (step: Step): void => {
      const { daysAgo, on = 'first', from = source, visit, becomes, change } = step;
      browsers[on] ??= createBrowser(random, journey.browsers?.[on]);
      const browser = browsers[on];
      const { userUUID } = browser;
      const { contactUUID, address, fields } = step.who === 'other' ? other : self;
      const order = nextNumber('order-');
      if (daysAgo !== undefined) time = daysBefore(daysAgo);
      else time = time === undefined ? pickArrival(from) : pickVisitTime(random, time + 3 * hourMs, time + 7 * dayMs);
      if (visit) {
        const weights = visit === 'any' && from === 'ads' ? 'glance' : visit;
        const depth = random.weighted<shop.Depth>(shop.depthWeights[weights] ?? { [weights]: 1 });
        for (const request of playVisit(random, { ...step, browser, from, start: time, depth, order })) {
          time = request.eventTime;
          actions.push({ time, by: 'browser', call: 'logEvent', request });
        }
        source = from === 'letter' ? 'letter' : 'direct';
      }
      if (becomes) {
        const { telephone, tags, attributes } = shop.roles[becomes];
        const isForm = becomes in shop.forms;
        const contactTelephone = `+49 30 5550 ${random.between(1_000, 9_999)}`;
        claimID = random.id();
        const names = step.firstName === undefined ? fields : { contactFirstname: step.firstName };
        const contactFields = { ...names, contactProfileID: becomes };
        const request = {
          ...{ userUUID: visit ? userUUID : null, newContactUUID: contactUUID, newHandle: claimID, requestUUID: null },
          ...{ address, externalID: isForm ? undefined : nextNumber('customer-'), verified: becomes !== 'reader' },
          fields: random.chance(telephone) ? { ...contactFields, contactTelephone } : contactFields,
          tags: Object.entries(tags).flatMap(([tag, chance]) => (random.chance(chance) ? tag : [])),
          attributes: attributes.map((attrID) => [attrID, random.pick(shop.attributeValues[attrID])] as const),
        };
        actions.push({ time: time + 500, by: isForm ? 'browser' : 'server', call: 'createContact', request });
      }
      if (change === 'ship') {
        const shippedTime = time + random.between(18, 50) * hourMs;
        const request = { ...createEvent(random, 'Order shipped', shippedTime, { order }), contactUUID };
        actions.push({ time: shippedTime, by: 'server', call: 'logEvent', request });
      } else if (change) {
        const ids = { userUUID, contactUUID, otherContactUUID: other.contactUUID, claimID };
        const request = change === 'updateContact' ? { contactUUID, ...unsubscribeFields } : { ...ids, restore: false };
        actions.push({ time: time + 1_000, by: 'server', call: change, request } as Action);
      }
    };
    const play = (steps: readonly Step[]): void => {
      for (const step of steps) {
        while (random.chance(step.chance ?? 1)) {
          takeStep(step);
          play(step.steps ?? []);
          if (!step.repeats) break;
        }
      }
    };
    play(journey.steps);
    return actions.filter((action) => action.time < now - marginMs);
  };
};

/**
 * Returns the actions in the 30 days before `now`. The same arguments produce the same actions. `events` must be at
 * least 2,000.
 */
export const createMonth = (seed: number, now: number, events = defaultEvents): Action[] => {
  const random = createRandom(seed);
  const play = createPlayer(random, now);
  const actions = stories.flatMap(play);
  // Current visitors, for the live page.
  for (let nth = 1; nth <= 10; nth += 1) actions.push(...play({ steps: [{ daysAgo: nth / 1_000, visit: 'product' }] }));
  for (let count = 0; count < events / eventsPerJourney; count += 1)
    actions.push(...play(journeys[random.weighted(journeyWeights)]));
  const add = (journey: Journey, count: number): void => {
    for (let missing = count; missing > 0; ) {
      const nextActions = play(journey).slice(0, missing);
      actions.push(...nextActions);
      missing -= nextActions.length;
    }
  };
  add(robot, Math.floor(events * robotShare));
  add(passerby, events - actions.filter(({ call }) => call === 'logEvent').length);
  for (let count = 0; count < events / eventsPerMistake; count += 1) {
    const time = pickVisitTime(random, now - 30 * dayMs, now);
    const { operation, input } = random.pick(shop.createInvalidInputs(random.id()));
    const checked = check((operations[operation] as Operation).input, input);
    if (checked.ok) throw new Error(`expected an invalid input: ${JSON.stringify(input)}`);
    const requests = [refusedRequest(operation, input, checked.problem, { token: '', time })];
    const by = operation === 'updateContact' ? 'server' : 'browser';
    actions.push({ time, by, call: 'addRefused', request: { sender: 0, requests } });
  }
  return actions.sort((a, b) => a.time - b.time);
};
