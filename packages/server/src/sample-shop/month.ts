/** The last month of the sample shop: all that happened in it, in the order of time. */
import type { Happening } from './happenings.ts';
import { anonymousHistory, historyOfSomebody, type Making } from './histories.ts';
import { createMistakes } from './mistakes.ts';
import { createPeople } from './people.ts';
import { createRandom, type Random } from './random.ts';
import { createRhythm, type Rhythm } from './rhythm.ts';
import { categories, products, readings, sources } from './shop.ts';
import { createStory } from './story.ts';
import { createVisitLog, newVisitor, visitOf } from './visits.ts';

export interface MonthSize {
  readonly events: number;
  /** Contacts, those that are merged included. */
  readonly people: number;
}
export const usualSize: MonthSize = { events: 40_000, people: 900 };

/** A month with so many events, at least 2,000, and as many people for each as usual. */
export const sizeOf = (events: number): MonthSize => ({
  events,
  people: Math.ceil((events / usualSize.events) * usualSize.people),
});

const shareOfRobots = 0.025;
const robots = 5;
const eventsPerMistake = 1_000;
/** Visitors who are still on a page when the month ends, or have just left. */
const visitorsOfTheLastMinutes = 9;
const lastMinutes = 25;
/** The time between the last event and the end of the month. */
const restMs = 20_000;

const countEvents = (happenings: readonly Happening[]): number => happenings.filter((each) => each.do === 'log').length;

const countPeople = (happenings: readonly Happening[]): number =>
  new Set(happenings.flatMap((each) => (each.do === 'create' ? each.contactUUID : []))).size;

/** Robots that read page after page, and say who they are. */
const crawls = (random: Random, rhythm: Rhythm, events: number): Happening[] => {
  const found: Happening[] = [];
  const known = Array.from({ length: robots }, () => ({ ...newVisitor(random), labels: [], robot: true }));
  while (found.length < events) {
    const visit = createVisitLog(random, {
      visitor: random.pick(known),
      source: sources.direct,
      start: rhythm.moment(rhythm.from, rhythm.to - 3_600_000),
    });
    for (const page of [...categories, ...products, ...readings].filter(() => random.chance(0.7))) visit.view(page);
    found.push(...visit.happenings);
  }
  return found.slice(0, events);
};

const visitsOfTheLastMinutes = (random: Random, rhythm: Rhythm): Happening[] =>
  Array.from({ length: visitorsOfTheLastMinutes }, (_, nth) => {
    const start = rhythm.to - Math.floor(((nth + 1) * lastMinutes * 60_000) / visitorsOfTheLastMinutes);
    const source = random.pick([sources.google, sources.direct, sources.blog, sources.letter]);
    return visitOf(random, { visitor: newVisitor(random), source, start, depth: 'product' }).happenings;
  })
    .flat()
    .filter(({ time }) => time <= rhythm.to - restMs);

const createNumbers = (of: string, first: number) => {
  let number = first;
  return (): string => {
    number += 1;
    return `${of}-${number}`;
  };
};

/**
 * What happened in the 30 days before `now`, in the order of time. The same seed, size and `now` make the same month. It has exactly
 * `size.events` events, and contacts of `size.people` people.
 */
export const createMonth = (
  seed: number,
  { now, size = usualSize }: { readonly now: number; readonly size?: MonthSize },
): readonly Happening[] => {
  const random = createRandom(seed);
  const rhythm = createRhythm(random, now);
  const making: Making = {
    random,
    rhythm,
    invent: createPeople(random),
    nextExternalID: createNumbers('customer', 1_000),
    nextOrder: createNumbers('order', 20_000),
  };
  const happenings = [...createStory(making), ...visitsOfTheLastMinutes(random, rhythm)];
  for (let missing = size.people - countPeople(happenings); missing > 0; ) {
    const history = historyOfSomebody(making);
    const people = countPeople(history);
    if (people > missing) continue;
    happenings.push(...history);
    missing -= people;
  }
  happenings.push(...crawls(random, rhythm, Math.floor(size.events * shareOfRobots)));
  for (let missing = size.events - countEvents(happenings); missing > 0; ) {
    const history = anonymousHistory(making).slice(0, missing);
    happenings.push(...history);
    missing -= history.length;
  }
  happenings.push(...createMistakes(random, rhythm, Math.ceil(size.events / eventsPerMistake)));
  return happenings.sort((a, b) => a.time - b.time);
};
