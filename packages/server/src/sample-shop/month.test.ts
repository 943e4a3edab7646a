import { createSegmentInput } from '@firsthand/contract/reports/segment';
import { BROWSER_MAP, OS_MAP } from 'bowser';
import { expect, it } from 'vitest';
import { type Action, createMonth, dayMs } from './month.ts';
import { eventIDs, segments } from './shop.ts';

const hourMs = dayMs / 24;
const now = Date.UTC(2026, 10, 25, 14, 30);
const month = createMonth(1, now);

type Of<Call> = Extract<Action, { call: Call }>;
const all = <Call extends Action['call']>(call: Call, among = month) =>
  among.filter((each): each is Of<Call> => each.call === call);
const events = all('logEvent').map(({ request }) => request);
type Event = (typeof events)[number];
const attributeOf = ({ attributes }: Event, attrID: string) => attributes.find(([each]) => each === attrID)?.[1];
const usersOf = (some: readonly Event[]) => new Set(some.flatMap(({ userUUID }) => userUUID ?? []));

it('generates the same month for the same seed and end, and a different one for another seed', () => {
  const first = createMonth(7, now, 2_000);
  expect(createMonth(7, now, 2_000)).toEqual(first);
  expect(createMonth(8, now, 2_000)).not.toEqual(first);
});

it.each([
  [40_000, 900],
  [2_000, 50],
])('generates %d events and about %d contacts', (count, contacts) => {
  const actions = count === 40_000 ? month : createMonth(3, now, count);
  expect(all('logEvent', actions)).toHaveLength(count);
  const { size } = new Set(all('createContact', actions).map(({ request }) => request.newContactUUID));
  expect(Math.abs(size - contacts)).toBeLessThan(contacts / 4);
});

it('includes thousands of visitors, most of them anonymous', () => {
  const linked = new Set([...all('createContact'), ...all('linkUser')].map(({ request }) => request.userUUID));
  const anonymous = [...usersOf(events)].filter((userUUID) => !linked.has(userUUID));
  expect(anonymous.length).toBeGreaterThan(4_000);
});

it('starts 30 days ago and ends less than a minute ago, in chronological order', () => {
  const times = month.map(({ time }) => time);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(times[0]).toBeGreaterThanOrEqual(now - 30 * dayMs);
  expect(times[0]).toBeLessThan(now - 29 * dayMs);
  expect(times.at(-1)).toBeLessThan(now);
  expect(times.at(-1)).toBeGreaterThan(now - 60_000);
});

it('includes every kind of change to people, links and claims', () => {
  const count = (call: Action['call']) => all(call).length;
  expect(count('linkUser')).toBeGreaterThan(50);
  const changes = [
    'unlinkUser',
    'updateContact',
    'voidLink',
    'acceptClaim',
    'voidClaim',
    'mergeContact',
    'unmergeContact',
  ] as const;
  for (const call of changes) expect([call, count(call) > 2]).toEqual([call, true]);
  expect(count('addRefused')).toBe(40);
  const senders = all('createContact').map(
    ({ by, request }) => `${by} ${request.verified} ${request.userUUID !== null}`,
  );
  expect(new Set(senders)).toEqual(
    new Set(['browser false true', 'browser true true', 'server true true', 'server true false']),
  );
});

it('uses only addresses at example domains', () => {
  const addresses = JSON.stringify(month).match(/[\w.+-]@[\w.-]+/g) ?? [];
  expect(addresses.length).toBeGreaterThan(900);
  expect(addresses.filter((address) => !/@example(\.com|\.org|\.net)?$/.test(address))).toEqual([]);
});

it('includes the labels that the server adds, but none for bots', () => {
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

it('includes one campaign that attracts buyers, and one that attracts none', () => {
  const buyers = usersOf(events.filter(({ eventID }) => eventID === eventIDs.Purchased));
  const visitorsFrom = (campaign: string) =>
    usersOf(events.filter((event) => attributeOf(event, 'utm_campaign') === campaign));
  const buyersFrom = (campaign: string) =>
    [...visitorsFrom(campaign)].filter((userUUID) => buyers.has(userUUID)).length;
  expect(buyersFrom('tea-letter')).toBeGreaterThan(80);
  expect(visitorsFrom('pretty-pictures').size).toBeGreaterThan(500);
  expect(buyersFrom('pretty-pictures')).toBe(0);
});

it('grows over time, and is busier in the evening than at night', () => {
  const between = (from: number, to: number) =>
    events.filter(({ eventTime }) => eventTime >= from && eventTime < to).length;
  expect(between(now - 7 * dayMs, now)).toBeGreaterThan(1.2 * between(now - 28 * dayMs, now - 21 * dayMs));
  const atHours = (...hours: number[]) =>
    events.filter(({ eventTime }) => hours.includes(Math.floor((eventTime % dayMs) / hourMs))).length;
  expect(atHours(19, 20, 21)).toBeGreaterThan(5 * atHours(2, 3, 4));
});

it('sets amounts only on purchases, as numbers', () => {
  const paid = events.filter((event) => attributeOf(event, 'amount') !== undefined);
  expect(new Set(paid.map(({ eventID }) => eventID))).toEqual(new Set([eventIDs.Purchased]));
  for (const event of paid) expect(attributeOf(event, 'amount')).toMatch(/^\d+\.\d\d$/);
});

it('includes only segments that the server accepts', () => {
  for (const [segmentName, filter] of Object.entries(segments)) {
    expect(createSegmentInput.safeParse({ segmentName, filter }).error).toBeUndefined();
  }
});
