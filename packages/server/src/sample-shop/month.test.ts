import { createSegmentInput } from '@firsthand/contract/reports/segment';
import { BROWSER_MAP, OS_MAP } from 'bowser';
import { expect, it } from 'vitest';
import type { Happening } from './happenings.ts';
import { createMonth, usualSize } from './month.ts';
import { dayMs, hourMs } from './rhythm.ts';
import { kinds, segments } from './shop.ts';

const now = Date.UTC(2026, 10, 25, 14, 30);
const month = createMonth(1, { now });
const small = { events: 2_000, people: 50 };

type Of<Do> = Extract<Happening, { do: Do }>;
const all = <Do extends Happening['do']>(kind: Do, among = month) =>
  among.filter((each): each is Of<Do> => each.do === kind);
const events = all('log').map(({ event }) => event);
type Event = (typeof events)[number];
const attributeOf = ({ attributes }: Event, attrID: string) => attributes.find(([each]) => each === attrID)?.[1];
const usersOf = (some: readonly Event[]) => new Set(some.flatMap(({ userUUID }) => userUUID ?? []));

it('is the same for a seed and an end, and another for another seed', () => {
  const first = createMonth(7, { now, size: small });
  expect(createMonth(7, { now, size: small })).toEqual(first);
  expect(createMonth(8, { now, size: small })).not.toEqual(first);
});

it.each([usualSize, small])('has as many events and people as it should: %j', (size) => {
  const made = size === usualSize ? month : createMonth(3, { now, size });
  expect(all('log', made)).toHaveLength(size.events);
  expect(new Set(all('create', made).map(({ contactUUID }) => contactUUID)).size).toBe(size.people);
});

it('has thousands of visitors, most of whom nobody knows', () => {
  const known = new Set([...all('create'), ...all('link')].map(({ userUUID }) => userUUID));
  const anonymous = [...usersOf(events)].filter((userUUID) => !known.has(userUUID));
  expect(anonymous.length).toBeGreaterThan(4_000);
});

it('begins 30 days ago and ends less than a minute ago, in the order of time', () => {
  const times = month.map(({ time }) => time);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(times[0]).toBeGreaterThanOrEqual(now - 30 * dayMs);
  expect(times[0]).toBeLessThan(now - 29 * dayMs);
  expect(times.at(-1)).toBeLessThan(now);
  expect(times.at(-1)).toBeGreaterThan(now - 60_000);
});

it('has everything that becomes of people, links and claims', () => {
  const count = (kind: Happening['do']) => all(kind).length;
  expect(count('link')).toBeGreaterThan(50);
  for (const kind of ['unlink', 'update', 'void link', 'accept claim', 'void claim', 'merge', 'unmerge'] as const) {
    expect([kind, count(kind) > 2]).toEqual([kind, true]);
  }
  expect(count('refuse')).toBe(40);
  const senders = all('create').map(({ by, verified, userUUID }) => `${by} ${verified} ${userUUID !== null}`);
  expect(new Set(senders)).toEqual(
    new Set(['browser false true', 'browser true true', 'server true true', 'server true false']),
  );
});

it('has no address but at the domains that are for examples', () => {
  const found = JSON.stringify(month).match(/[\w.+-]@[\w.-]+/g) ?? [];
  expect(found.length).toBeGreaterThan(900);
  expect(found.filter((address) => !/@example(\.com|\.org|\.net)?$/.test(address))).toEqual([]);
});

it('has the labels that the server adds, and none for robots', () => {
  const browsers = new Set<unknown>(Object.values(BROWSER_MAP));
  const systems = new Set<unknown>(Object.values(OS_MAP));
  const isLabelled = (event: Event) =>
    browsers.has(attributeOf(event, '$browser')) &&
    systems.has(attributeOf(event, '$os')) &&
    /^(desktop|phone|tablet)$/.test(attributeOf(event, '$device') ?? '') &&
    /^[A-Z]{2}$/.test(attributeOf(event, '$country') ?? '');
  const isBare = ({ attributes }: Event) => !attributes.some(([attrID]) => attrID.startsWith('$'));
  const isOfBrowser = (event: Event) => event.userUUID !== null && attributeOf(event, 'robot') === undefined;
  expect(events.filter((event) => (isOfBrowser(event) ? !isLabelled(event) : !isBare(event)))).toEqual([]);
  expect(events.filter((event) => attributeOf(event, 'robot')).length).toBe(1_000);
});

it('has one campaign that brings buyers, and one that brings none', () => {
  const buyers = usersOf(events.filter(({ eventID }) => eventID === kinds.purchased));
  const broughtBy = (campaign: string) =>
    usersOf(events.filter((event) => attributeOf(event, 'utm_campaign') === campaign));
  const buyersBy = (campaign: string) => [...broughtBy(campaign)].filter((userUUID) => buyers.has(userUUID)).length;
  expect(buyersBy('tea-letter')).toBeGreaterThan(80);
  expect(broughtBy('pretty-pictures').size).toBeGreaterThan(500);
  expect(buyersBy('pretty-pictures')).toBe(0);
});

it('grows, and is busier in the evening than at night', () => {
  const between = (from: number, to: number) =>
    events.filter(({ eventTime }) => eventTime >= from && eventTime < to).length;
  expect(between(now - 7 * dayMs, now)).toBeGreaterThan(1.2 * between(now - 28 * dayMs, now - 21 * dayMs));
  const atHours = (...hours: number[]) =>
    events.filter(({ eventTime }) => hours.includes(Math.floor((eventTime % dayMs) / hourMs))).length;
  expect(atHours(19, 20, 21)).toBeGreaterThan(5 * atHours(2, 3, 4));
});

it('has amounts only where something was paid, as numbers', () => {
  const paid = events.filter((event) => attributeOf(event, 'amount') !== undefined);
  expect(new Set(paid.map(({ eventID }) => eventID))).toEqual(new Set([kinds.purchased]));
  for (const event of paid) expect(attributeOf(event, 'amount')).toMatch(/^\d+\.\d\d$/);
});

it('has segments that the server would take', () => {
  for (const [segmentName, filter] of segments) {
    expect(createSegmentInput.safeParse({ segmentName, filter }).error).toBeUndefined();
  }
});
