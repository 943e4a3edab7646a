/** How most people of the sample shop become known, and what becomes of that: the histories that chance makes. */

import { createEventUUID } from '../ingest/new-event.ts';
import type { Deed, Happening, Said, Visitor } from './happenings.ts';
import { asCustomer, asMember, asReader, asWholesale, type InventPerson, type Person } from './people.ts';
import type { Random } from './random.ts';
import { dayMs, hourMs, type Rhythm } from './rhythm.ts';
import { type Kind, kinds, type Page, pages, type Source, sources } from './shop.ts';
import { type Depth, newVisitor, phoneBeside, type Visit, type VisitLog, type VisitPlan, visitOf } from './visits.ts';

export interface Making {
  readonly random: Random;
  readonly rhythm: Rhythm;
  readonly invent: InventPerson;
  /** The next number of a customer, and of an order. */
  nextExternalID(): string;
  nextOrder(): string;
}

const sourcesOfBuyers = [
  [sources.letter, 34],
  [sources.google, 26],
  [sources.direct, 22],
  [sources.blog, 8],
  [sources.duck, 5],
  [sources.forum, 3],
  [sources.bing, 2],
] as const;

const sourcesOfVisitors = [
  [sources.google, 33],
  [sources.direct, 22],
  [sources.ads, 20],
  [sources.blog, 8],
  [sources.duck, 6],
  [sources.forum, 4],
  [sources.bing, 4],
  [sources.letter, 3],
] as const;

/** The letter is sent on these days before the end of the month; the pictures are shown between two others. */
const letterDaysAgo = [29, 23, 16, 9, 2] as const;
const adsDaysAgo = [15, 8] as const;
const hoursOfLetter = 40;

/** A time between two times at which somebody comes from a source. */
const arrival = ({ random, rhythm }: Making, source: Source, latest = rhythm.to): number => {
  const ago = (days: number) => rhythm.to - days * dayMs;
  if (source === sources.ads) return rhythm.moment(ago(adsDaysAgo[0]), ago(adsDaysAgo[1]));
  if (source !== sources.letter) return rhythm.moment(rhythm.from, latest);
  const sent = ago(random.pick(letterDaysAgo.filter((days) => ago(days) + hoursOfLetter * hourMs < latest)));
  // Most read it soon.
  return Math.floor(sent + random.next() ** 2 * hoursOfLetter * hourMs);
};

const returns = (source: Source): Source => (source === sources.letter ? sources.letter : sources.direct);

/** The last visit of somebody who is known begins so long before the end of the month: all that follows from it is over by then. */
const marginMs = 3 * hourMs;
/** No visit takes longer. */
const longestVisitMs = 30 * 60_000;

/** Collects what happens to one person. */
export const createHistory = (making: Making) => {
  const { random, rhythm, nextOrder } = making;
  const happenings: Happening[] = [];
  const at = (time: number, deed: Deed): void => void happenings.push({ ...deed, time });
  return {
    happenings,
    at,
    /** `more` is what else the plan of the visit says. */
    visit(visitor: Visitor, source: Source, start: number, depth: Depth, more: Partial<VisitPlan> = {}): Visit {
      const order = depth === 'purchase' ? { order: nextOrder() } : {};
      const visit = visitOf(random, { visitor, source, start, depth, ...order, ...more });
      happenings.push(...visit.happenings);
      return visit;
    },
    create(
      by: 'browser' | 'server',
      time: number,
      visitor: Visitor | null,
      { contactUUID }: Person,
      said: Said,
      verified = by === 'server',
    ): string {
      const claimID = random.id();
      at(time, { do: 'create', by, userUUID: visitor?.userUUID ?? null, contactUUID, claimID, said, verified });
      return claimID;
    },
    /** The shop's own system reports that an order was sent, a day or two after it; if that is over by now. */
    ship(contactUUID: string, order: string, ordered: number): void {
      const time = ordered + random.between(18, 50) * hourMs;
      if (time >= rhythm.to) return;
      const event = {
        eventID: kinds.shipped,
        eventName: null,
        mayAddName: false,
        eventUUID: createEventUUID(time, random.id().slice(0, 12)),
        eventTime: time,
        timeReplaced: false,
        userUUID: null,
        contactUUID,
        externalID: null,
        attributes: [['order', order]] as const,
      };
      at(time, { do: 'log', by: 'server', event });
    },
    /** A later time, some days on; undefined if the month is over by then. */
    later(time: number, mostDays = 8): number | undefined {
      const from = time + 3 * hourMs;
      const to = Math.min(time + mostDays * dayMs, rhythm.to - marginMs);
      return to - from < hourMs ? undefined : rhythm.moment(from, to);
    },
  };
};
type History = ReturnType<typeof createHistory>;

const depthsOfVisitors = [
  ['one page', 37],
  ['some pages', 33],
  ['product', 19],
  ['cart', 8],
  ['checkout', 3],
] as const;
const depthsOfReturns = [
  ['some pages', 40],
  ['product', 35],
  ['cart', 25],
] as const;

/** Visits of a known browser in the days after. Returns when the last one ended. */
const comeBack = ({ random }: Making, history: History, visitor: Visitor, source: Source, from: number): number => {
  let time = from;
  for (
    let visits = random.weighted([
      [0, 35],
      [1, 35],
      [2, 20],
      [3, 10],
    ] as const);
    visits > 0;
    visits -= 1
  ) {
    const next = history.later(time);
    if (next === undefined) break;
    time = history.visit(visitor, returns(source), next, random.weighted(depthsOfReturns)).end;
  }
  return time;
};

/** Somebody who buys: the shop's server knows them from the first order on. */
const customer = (making: Making): History => {
  const { random, rhythm, invent, nextExternalID } = making;
  const history = createHistory(making);
  const person = invent();
  const source = random.weighted(sourcesOfBuyers);
  const laptop = newVisitor(random);
  let time = arrival(making, source, rhythm.to - dayMs);
  if (random.chance(0.6)) {
    const looked = history.visit(laptop, source, time, random.weighted(depthsOfReturns));
    time = history.later(looked.end, 5) ?? looked.end + 31 * 60_000;
  }
  const first = history.visit(laptop, source, time, 'purchase');
  history.create('server', first.end + 800, laptop, person, asCustomer(random, person, nextExternalID()));
  if (first.bought) history.ship(person.contactUUID, first.bought.order, first.bought.time);
  time = comeBack(making, history, laptop, source, first.end + 1_000);
  const again = random.chance(0.3) ? history.later(time) : undefined;
  if (again !== undefined) {
    const { bought, end } = history.visit(laptop, sources.direct, again, 'purchase');
    if (bought) history.ship(person.contactUUID, bought.order, bought.time);
    time = end;
  }
  if (random.chance(0.28)) time = addPhone(making, history, person, laptop, time);
  if (random.chance(0.07)) leave(making, history, laptop, time);
  if (random.chance(0.03)) {
    const change = { contactStatus: 'unsubscribed', removedTags: ['newsletter'] } as const;
    history.at(time + 5_000, { do: 'update', contactUUID: person.contactUUID, change });
  }
  return history;
};

/** A phone on which the person signs in; sometimes it was the wrong person, and that is taken back. Returns when that was over. */
const addPhone = (making: Making, history: History, person: Person, laptop: Visitor, from: number): number => {
  const { random } = making;
  const phone = phoneBeside(random, laptop);
  const first = history.later(from);
  if (first === undefined) return from;
  const { end } = history.visit(phone, sources.direct, first, random.weighted(depthsOfReturns));
  const name = random.id();
  history.at(end + 500, { do: 'link', userUUID: phone.userUUID, contactUUID: person.contactUUID, name });
  const time = comeBack(making, history, phone, sources.direct, end + 1_000);
  if (random.chance(0.06)) history.at(time + 2 * 60_000, { do: 'void link', name });
  else if (random.chance(0.1)) return handOver(making, history, phone, time);
  return time + 2 * 60_000;
};

/** The phone changes hands: from here on it is somebody else's. */
const handOver = (making: Making, history: History, phone: Visitor, from: number): number => {
  const { random, invent } = making;
  const first = history.later(from);
  if (first === undefined) return from;
  const other = invent();
  const { end } = history.visit(phone, sources.google, first, 'product');
  history.create('server', end + 500, phone, other, asMember(random, other));
  return comeBack(making, history, phone, sources.direct, end + 1_000);
};

/** Signs out on a computer that others use too: what follows is nobody's. */
const leave = ({ random }: Making, history: History, { userUUID, ...rest }: Visitor, from: number): void => {
  history.at(from + 3 * 60_000, { do: 'unlink', userUUID });
  const next = history.later(from + 4 * 60_000, 4);
  if (next !== undefined) history.visit({ userUUID, ...rest }, sources.direct, next, random.weighted(depthsOfReturns));
};

/** The form of a page, filled in at the end of a visit. */
const filling =
  (page: Page, kind: Kind) =>
  (visit: VisitLog): void => {
    visit.view(page);
    visit.pause();
    visit.log(kind, []);
  };
export const joining = filling(pages.newsletter, 'newsletter');
export const signingUp = filling(pages.account, 'signedUp');

/** Somebody who writes an address into a form: a browser claims it, and nobody has confirmed that yet. */
const reader = (making: Making): History => {
  const { random, rhythm, invent } = making;
  const history = createHistory(making);
  const person = invent();
  const source = random.weighted(sourcesOfVisitors.filter(([each]) => each !== sources.ads));
  const visitor = newVisitor(random);
  const start = arrival(making, source, rhythm.to - dayMs);
  const { end } = history.visit(visitor, source, start, 'some pages', { ending: joining });
  const claimID = history.create('browser', end + 300, visitor, person, asReader(random, person));
  const time = comeBack(making, history, visitor, source, end + 1_000);
  if (random.chance(0.2)) history.at(time + hourMs, { do: 'accept claim', claimID });
  else if (random.chance(0.12)) contradict(making, history, person, time);
  return history;
};

/** Another browser sends the same address with another name; sometimes the shop takes that claim back. */
const contradict = (making: Making, history: History, person: Person, from: number): void => {
  const { random } = making;
  const first = history.later(from);
  if (first === undefined) return;
  const visitor = newVisitor(random);
  const { end } = history.visit(visitor, sources.direct, first, 'some pages');
  const { address } = person;
  const said = { address, fields: { contactFirstname: 'Test', contactTelephone: '+49 30 5550 0199' } };
  const claimID = history.create('browser', end + 300, visitor, person, said);
  if (random.chance(0.4)) history.at(end + hourMs, { do: 'void claim', claimID });
};

/** Somebody who signs up: the page sends a proof of the shop's server with the address, so the link is verified. */
const member = (making: Making): History => {
  const { random, rhythm, invent } = making;
  const history = createHistory(making);
  const person = invent();
  const source = random.weighted(sourcesOfVisitors.filter(([each]) => each !== sources.ads));
  const visitor = newVisitor(random);
  const start = arrival(making, source, rhythm.to - dayMs);
  const { end } = history.visit(visitor, source, start, 'product', { ending: signingUp });
  history.create('browser', end + 300, visitor, person, asMember(random, person), true);
  comeBack(making, history, visitor, source, end + 1_000);
  return history;
};

/** A shop that orders by mail: known to the server, and never on a page. */
const wholesale = (making: Making): History => {
  const { random, rhythm, invent, nextExternalID, nextOrder } = making;
  const history = createHistory(making);
  const person = invent();
  const time = rhythm.moment(rhythm.from, rhythm.from + 3 * dayMs);
  history.create('server', time, null, person, asWholesale(random, person, nextExternalID()));
  for (let ordered = time; random.chance(0.7); ordered += 6 * dayMs) {
    history.ship(person.contactUUID, nextOrder(), ordered);
  }
  return history;
};

/** The same person twice, once by a form and once by an order, until the shop merges the two; sometimes it takes that back. */
const duplicate = (making: Making): History => {
  const { random, rhythm, invent, nextExternalID } = making;
  const history = createHistory(making);
  const kept = invent();
  const other = invent({ firstName: kept.firstName, lastName: kept.lastName });
  const visitor = newVisitor(random);
  const read = history.visit(
    visitor,
    sources.google,
    arrival(making, sources.google, rhythm.to - 4 * dayMs),
    'product',
  );
  history.create('browser', read.end + 300, visitor, other, asReader(random, other));
  const laptop = newVisitor(random);
  const next = history.later(read.end, 2) ?? read.end + 31 * 60_000;
  const bought = history.visit(laptop, sources.direct, next, 'purchase');
  history.create('server', bought.end + 300, laptop, kept, asCustomer(random, kept, nextExternalID()));
  const merged = bought.end + hourMs;
  history.at(merged, { do: 'merge', contactUUID: kept.contactUUID, otherContactUUID: other.contactUUID });
  if (random.chance(0.25)) history.at(merged + hourMs, { do: 'unmerge', otherContactUUID: other.contactUUID });
  return history;
};

const historyKinds = [
  [customer, 50],
  [reader, 26],
  [member, 12],
  [wholesale, 10],
  [duplicate, 2],
] as const;

/** The history of one person, or of a few who have to do with each other. */
export const historyOfSomebody = (making: Making): readonly Happening[] =>
  making.random.weighted<(making: Making) => History>(historyKinds)(making).happenings;

/** A visit of somebody who is never known, and perhaps further ones. */
export const anonymousHistory = (making: Making): readonly Happening[] => {
  const { random, rhythm } = making;
  const history = createHistory(making);
  const source = random.weighted<Source>(sourcesOfVisitors);
  const visitor = newVisitor(random);
  const depth = (): Depth =>
    source === sources.ads
      ? random.weighted([
          ['one page', 80],
          ['some pages', 20],
        ] as const)
      : random.weighted(depthsOfVisitors);
  let { end } = history.visit(visitor, source, arrival(making, source, rhythm.to - longestVisitMs), depth());
  while (random.chance(0.18)) {
    const next = history.later(end);
    if (next === undefined) break;
    ({ end } = history.visit(visitor, returns(source), next, depth()));
  }
  return history.happenings;
};
