// Tests the limits of a page, lowered so that a test can reach them.
import { beforeAll, describe, expect, test } from 'vitest';
import { day, newAccount, newEvent, newToken } from '../../../../test/fixtures/store.ts';
import type { PageBounds } from '../../rules/event-pages.ts';
import type { EventPage, EventQuery } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import { openMemory } from '../database/memory.ts';
import { createWriteEngine } from '../engine.ts';
import { createEventPager } from './event-pages.ts';

let db: Connection;
const perDay = 5_000;
const isRare = (nth: number) => nth % 3_000 === 7;
const rare = Array.from({ length: 3 * perDay }, (_, nth) => nth).filter(isRare);

beforeAll(() => {
  db = openMemory();
  const engine = createWriteEngine(db);
  engine.write([{ name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) }]);
  for (let days = 0; days < 3; days += 1) {
    const events = Array.from({ length: perDay }, (_, index) => {
      const nth = days * perDay + index;
      const text = 'x'.repeat(isRare(nth) ? 1_000 : 10);
      return newEvent({ eventUUID: `event-${nth}`, attributes: [[isRare(nth) ? 'rare' : 'usual', text]] });
    });
    const request = { account: 1, token: 1, browser: false, receivedTime: days * day, events };
    expect(engine.write([{ name: 'logEvents', request }])).toEqual([{ value: events.map(() => ({ kept: true })) }]);
  }
});

const pagesOf = (query: Partial<EventQuery>, bounds: PageBounds): EventPage[] => {
  const getEvents = createEventPager(db, { bounds });
  const pages: EventPage[] = [];
  let beyond: number | undefined;
  for (;;) {
    const steps = getEvents({ account: 1, order: 'asc', limit: 100, beyond, ...query });
    let step = steps.next();
    while (!step.done) step = steps.next();
    pages.push(step.value);
    if (step.value.next === null) return pages;
    expect(step.value.next).not.toBe(beyond);
    beyond = step.value.next;
  }
};
const numbersOf = (pages: readonly EventPage[]) =>
  pages.flatMap(({ events }) => events.map(({ eventUUID }) => Number(eventUUID.slice('event-'.length))));

describe.each(['asc', 'desc'] as const)('a page of events, %s', (order) => {
  const inOrder = (numbers: readonly number[]) => (order === 'asc' ? numbers : numbers.toReversed());

  test.each([1, 2_000, 3_500, perDay, 9_000])(
    'ends after %i examined events, where the next page continues',
    (maxExamined) => {
      const pages = pagesOf({ order, attrID: 'rare' }, { maxExamined, maxCharacters: Infinity });
      expect(pages.length).toBeGreaterThan(1);
      expect(numbersOf(pages)).toEqual(inOrder(rare));
      if (order === 'desc') return;
      for (const { events, through } of pages) {
        for (const { sequence } of events) expect(through).toBeGreaterThanOrEqual(sequence);
      }
    },
  );

  test('can be empty, and reports how far it has searched', () => {
    const pages = pagesOf({ order, attrID: 'none' }, { maxExamined: 2_000, maxCharacters: Infinity });
    expect(pages.length).toBeGreaterThan(3);
    for (const { events, next, through } of pages) {
      expect(events).toEqual([]);
      if (next !== null) expect(through).toBe(next);
    }
  });

  test('ends when its attributes reach the size limit, but has at least one event', () => {
    const few = pagesOf({ order, attrID: 'rare' }, { maxExamined: Infinity, maxCharacters: 1 });
    expect(few.map(({ events }) => events.length)).toEqual(rare.map(() => 1));
    expect(numbersOf(few)).toEqual(inOrder(rare));
    const pairs = pagesOf({ order, attrID: 'rare' }, { maxExamined: Infinity, maxCharacters: 1_500 });
    expect(pairs[0]?.events).toHaveLength(2);
    expect(numbersOf(pairs)).toEqual(inOrder(rare));
  });
});
