/**
 * Compares every number in the console with the API, over random histories. Expectations are computed here from API
 * responses, without any of the console's code.
 */
import { createClient, type RequestFor } from '@firsthand/client';
import fc from 'fast-check';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../../../tracker/test/chromium.ts';
import { consoleCards, peopleOf, textsOf } from '../../fixtures/in-page.js';
import { runs } from '../../fixtures/runs.ts';
import { serveHere } from '../../fixtures/serving.ts';
import { soon } from '../../fixtures/timeouts.ts';
import { type History, historyArbitrary, replayHistory, type Site } from './histories.ts';
import { openConsole } from './open-console.ts';

const dayMs = 86_400_000;

let browser: Browser;
let url: string;
beforeAll(async () => {
  browser = await launchChromium();
  ({ url } = await serveHere({}, {}, afterAll));
});
afterAll(() => browser?.close());

const groupTabs = {
  pages: { all: 'attr:path', entry: 'entryPage', exit: 'exitPage' },
  sources: {
    referrers: 'entryReferrerHost',
    campaigns: 'first:utm_campaign',
    sources: 'first:utm_source',
    media: 'first:utm_medium',
    first: 'person:first:utm_campaign',
  },
  events: { kinds: 'event' },
  people: { tags: 'contactTagID', profiles: 'contactProfileID' },
  devices: { device: 'attr:$device', browser: 'attr:$browser', os: 'attr:$os' },
  places: { country: 'attr:$country', hour: 'hour' },
} as const;
type GroupName = keyof typeof groupTabs;
/** The labels of rows that have no value. */
const noneOf: Readonly<Record<string, string>> = {
  entryReferrerHost: 'Direct / none',
  'first:utm_campaign': 'No campaign',
  'first:utm_source': 'No source',
  'first:utm_medium': 'No medium',
  'person:first:utm_campaign': 'No campaign',
  firstReferrerHost: 'Direct / none',
};
const groupTitles: Readonly<Record<GroupName, string>> = {
  pages: 'Pages',
  sources: 'Sources',
  events: 'Events',
  people: 'Tags and profiles',
  devices: 'Devices',
  places: 'Places and times',
};
const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

const tabOf = <Name extends GroupName>(name: Name) =>
  fc.constantFrom(...(Object.keys(groupTabs[name]) as (keyof (typeof groupTabs)[Name] & string)[]));
const choiceArbitrary = fc.record({
  kind: fc.constantFrom('viewer', 'server'),
  days: fc.constantFrom(1, 7, 30, 30, 90),
  /** How many days ago the last day is; null for a range that ends now. */
  last: fc.option(fc.integer({ min: 0, max: 9 })),
  compare: fc.constantFrom(undefined, 'previous', 'year'),
  filter: fc.constantFrom(
    undefined,
    undefined,
    { attrID: 'path', is: ['/pricing'] },
    { event: [1] },
    { contact: { contactTagID: 'tag-0' } },
  ),
  tabs: fc.record({
    pages: tabOf('pages'),
    sources: tabOf('sources'),
    people: tabOf('people'),
    devices: tabOf('devices'),
    places: tabOf('places'),
  }),
  by: fc.constantFrom(
    'event',
    'attr:path',
    'attr:plan',
    'attr:title',
    'hour',
    'weekday',
    'contactTagID',
    'entryPage',
    'first:utm_campaign',
    'entryReferrerHost',
    'person:first:utm_campaign',
    'firstReferrerHost',
  ),
  measure: fc.constantFrom('people', 'users', 'sessions', 'events', 'revenue'),
  event: fc.constantFrom(undefined, 1, 4),
  steps: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 4 }),
  within: fc.constantFrom('30d', '7d', '1d', '1h'),
  per: fc.constantFrom('person', 'session'),
  interval: fc.constantFrom('week', 'day', 'month'),
  first: fc.constantFrom(undefined, 1),
  nth: fc.nat({ max: 50 }),
});
type Choice = typeof choiceArbitrary extends fc.Arbitrary<infer Chosen> ? Chosen : never;

const whole = new Intl.NumberFormat('en-GB');
const twoDigits = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 2 });
const decimal = (value: number): string => twoDigits.format(value);
const count = (value: number): string => whole.format(value);
const roundPercent = new Intl.NumberFormat('en-GB', { style: 'percent' });
const finePercent = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 1 });
const share = (part: number, all: number): string => {
  if (all === 0) return '';
  return (part > 0 && part / all < 0.1 ? finePercent : roundPercent).format(part / all);
};
const change = (now: number, before: number | undefined): string => {
  if (!before) return '';
  const sign = now > before ? '+' : now < before ? '−' : '±';
  return sign + roundPercent.format(Math.abs(now - before) / Math.abs(before));
};

/** Formats a duration in seconds. */
const lengthOf = (seconds: number): string => {
  const minutes = Math.round(seconds / 60);
  if (minutes < 1) return `${Math.max(1, Math.round(seconds))} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.round(hours / 24)} days`;
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
};

/** Formats the time per visit. */
const durationOf = (length: number): string => {
  const seconds = Math.round(length);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
};
const moreRows = (rows: number): string => `${count(rows)} more ${rows === 1 ? 'row' : 'rows'}`;

interface Visits {
  readonly bounceRate: number | null;
  readonly pages: number | null;
  readonly seconds: number | null;
}
/** Formats the median time to a step. */
const medianOf = (step: { readonly seconds?: { readonly median: number | null } | undefined } | undefined): string => {
  const median = step?.seconds?.median ?? null;
  return median === null ? '' : lengthOf(median);
};
/** Returns the cells with visit measures. */
const visitTexts = ({ visits }: { readonly visits?: Visits | undefined }): string[] =>
  visits?.bounceRate == null
    ? ['', '', '']
    : [share(visits.bounceRate, 1), decimal(visits.pages ?? 0), durationOf(visits.seconds ?? 0)];

const dayIn = (zone: string, time: number): string => new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(time);

/** Returns a date range as URL parameters and as request fields. */
const rangeFor = ({ days, last }: Choice, zone: string) => {
  const now = Date.now();
  if (last === null) {
    const range = days === 1 ? 'today' : `${days}d`;
    return { parameters: { range }, from: dayIn(zone, now - (days - 1) * dayMs), to: undefined };
  }
  const [from, until, to] = [last + days - 1, last, last - 1].map((ago) => dayIn(zone, now - ago * dayMs));
  return { parameters: { from, to: until }, from: from as string, to };
};
const intervalOf = (days: number) => (days <= 2 ? 'hour' : 'day');

const query = (parameters: Readonly<Record<string, unknown>>): string => {
  const defined = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return `?${new URLSearchParams(defined.map(([name, value]): [string, string] => [name, String(value)]))}`;
};

interface PersonNames {
  readonly contactFirstname: string;
  readonly contactLastname: string;
  readonly contactEmailaddress: string;
  readonly contactExternalID: string;
}

const dayWritten = (time: string): string =>
  new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(new Date(time));

/** A page: its path, and its expected content according to the API. */
interface PageSpec {
  readonly path: string;
  readonly cards: () => Promise<readonly object[]>;
  /** Other text to check, by CSS selector. */
  readonly texts?: () => Promise<Readonly<Record<string, readonly string[]>>>;
  /** The total number of events in all sessions on the page. */
  readonly events?: () => Promise<number>;
}

const pagesOf = async (
  site: Site,
  { zone, hasRevenue, currency }: History,
  choice: Choice,
): Promise<readonly PageSpec[]> => {
  const api = createClient({ url, token: site.viewerToken });
  const { account } = await api.getAccount({});
  const eventName = (id: string) => account.event.find(({ eventID }) => String(eventID) === id)?.eventName ?? id;
  const labels: Readonly<Record<string, (value: string) => string>> = {
    event: eventName,
    contactTagID: (id) => account.tag.find(({ tagID }) => tagID === id)?.tagName ?? id,
    contactProfileID: (id) => account.profile.find(({ profileID }) => profileID === id)?.profileName ?? id,
    'attr:$device': (value) => value.charAt(0).toUpperCase() + value.slice(1),
    hour: (value) => `${value}:00`,
    weekday: (value) => weekdays[Number(value) - 1] ?? value,
  };
  const labelOf = (by: string, value: string | null | undefined): string =>
    typeof value === 'string' ? (labels[by] ?? String)(value) || '(empty)' : (noneOf[by] ?? 'None');

  const isServer = choice.kind === 'server';
  const { parameters, from, to } = rangeFor(choice, zone);
  const { compare, filter, tabs, by, measure, event, steps, within, per, interval, first } = choice;
  const filtered = filter && { filter: JSON.stringify([filter]) };
  const inRange = { from, to, filter, timezone: zone };
  const pageParameters = { ...parameters, ...filtered };

  const inCurrency =
    currency && new Intl.NumberFormat('en-GB', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' });
  const money = (value: number): string => (inCurrency ? inCurrency.format(value) : decimal(value));

  const expectedMeasures = async (
    request: RequestFor<'reportTotals'>,
    measures: readonly Measure[],
    chosen: number,
  ) => {
    const totals = await api.reportTotals({ ...request, interval: intervalOf(choice.days) });
    const [, of, written = decimal] = measures[chosen] as (typeof measures)[number];
    return {
      title: 'Measures',
      measures: measuresOf(measures, chosen, totals.total, totals.earlier?.total).map(
        ([label, each, write = decimal]) => [
          label,
          write === money && totals.total.value?.sum == null ? '–' : write(each(totals.total)),
          change(each(totals.total), totals.earlier && each(totals.earlier.total)),
        ],
      ),
      plot: (totals.interval ?? []).map((counts, nth) => {
        const before = totals.earlier?.interval?.[nth];
        return [...(totals.earlier ? [before ? written(of(before)) : ''] : []), written(of(counts))];
      }),
    };
  };
  type Totals = Awaited<ReturnType<typeof api.reportTotals>>;
  /** Omits revenue if no event has a value, unless it is the chosen measure. */
  const measuresOf = (
    measures: readonly Measure[],
    chosen: number,
    ...counts: readonly (Pick<Totals['total'], 'value'> | undefined)[]
  ) =>
    measures.filter(
      ([, , write], nth) => write !== money || nth === chosen || counts.some((each) => each?.value?.sum != null),
    );
  type Measure = readonly [label: string, of: (counts: Totals['total']) => number, write?: typeof decimal];
  const four = [
    ['People', ({ people }: Totals['total']) => people],
    ['Browsers', ({ users }: Totals['total']) => users],
    ['Sessions', ({ sessions }: Totals['total']) => sessions],
    ['Events', ({ events }: Totals['total']) => events],
  ] as const;

  const group = async (name: GroupName) => {
    const tab = { ...tabs, events: 'kinds' }[name];
    const dimension =
      (groupTabs[name] as Readonly<Record<string, RequestFor<'reportBreakdown'>['by']>>)[tab] ?? 'event';
    const attrID = String(dimension).startsWith('attr:') ? String(dimension).slice(5) : undefined;
    const only =
      attrID !== undefined ? { attrID, exists: true } : name === 'pages' ? { attrID: 'path', exists: true } : undefined;
    const { row, total, others } = await api.reportBreakdown({
      ...inRange,
      by: dimension,
      filter: filter && only ? { and: [filter, only] } : (filter ?? only),
      limit: dimension === 'hour' ? 24 : 8,
    });
    const rows = dimension === 'hour' ? row.toSorted((a, b) => Number(a.values[0]) - Number(b.values[0])) : row;
    return {
      title: groupTitles[name],
      ...(row.length > 0 && {
        rows: [
          ...rows.map(({ values: [value], people }) => [
            labelOf(String(dimension), value),
            `${count(people)} ${share(people, total.people)}`,
          ]),
          ...(others ? [[moreRows(others.groups), `${count(others.people)} `]] : []),
        ],
      }),
    };
  };

  const all: readonly Measure[] = hasRevenue ? [...four, ['Revenue', ({ value }) => value?.sum ?? 0, money]] : four;
  const ofRevenue = { attrID: hasRevenue ? 'amount' : undefined };
  const isOfRevenue = hasRevenue && choice.nth % 2 === 1;
  const overview: PageSpec = {
    path: query({ ...pageParameters, compare, ...tabs, measure: isOfRevenue ? 'revenue' : undefined }),
    cards: async () => [
      await expectedMeasures({ ...inRange, compare, ...ofRevenue }, all, isOfRevenue ? 4 : 0),
      ...(await Promise.all((Object.keys(groupTabs) as GroupName[]).map(group))),
    ],
    texts: async () => ({ '.online': [`${count((await api.reportLive({})).people)} online`] }),
  };

  const live: PageSpec = {
    path: 'live',
    cards: async () => {
      const response = await api.reportLive({ limit: 6 });
      const lists = [
        ['Pages', response.page],
        ['Referring sites', response.referrerHost],
        ['Countries', response.country],
      ] as const;
      return [
        { title: 'Live events' },
        ...lists.map(([title, { row, others }]) => {
          const rows = row.filter(({ value }) => value !== null);
          return {
            title,
            ...(rows.length > 0 && {
              rows: [
                ...rows.map(({ value, people }) => [
                  value || '(empty)',
                  `${count(people)} ${share(people, response.people)}`,
                ]),
                ...(others > 0 ? [['Others', count(others)]] : []),
              ],
            }),
          };
        }),
      ];
    },
    texts: async () => ({ '.now strong': [count((await api.reportLive({})).people)] }),
  };

  const explore: PageSpec = {
    path: `events${query({ ...pageParameters, compare, by, measure, event })}`,
    cards: async () => {
      const scope = { ...inRange, ...ofRevenue, eventID: event };
      const breakdown = { ...scope, by: by as RequestFor<'reportBreakdown'>['by'] };
      const isConversion = event !== undefined && by !== 'event';
      const isOfVisit = event === undefined && ['entryPage', 'first:utm_campaign', 'entryReferrerHost'].includes(by);
      const { row, total, others } = await api.reportBreakdown({
        ...breakdown,
        sort: measure === 'revenue' ? undefined : measure,
        limit: 50,
        conversion: isConversion ? 'include' : undefined,
        visits: isOfVisit ? 'include' : undefined,
      });
      type Row = Totals['total'] & { readonly among?: number | undefined };
      const nth = ['people', 'users', 'sessions', 'events', 'revenue'].indexOf(measure);
      const chosen = nth < all.length ? nth : 0;
      const cells = (counts: Row) => [
        ...measuresOf(all, chosen, total).map(([, of, write = count]) =>
          write === money && counts.value?.sum == null ? '–' : write(of(counts)),
        ),
        ...(isConversion ? [counts.among ? share(counts.people, counts.among) : ''] : []),
        ...(isOfVisit ? visitTexts(counts) : []),
      ];
      const [, of] = all[chosen] as Measure;
      const isOrdered = by === 'hour' || by === 'weekday';
      const rows = row.toSorted((a, b) => (isOrdered ? Number(a.values[0]) - Number(b.values[0]) : of(b) - of(a)));
      return [
        await expectedMeasures({ ...scope, compare }, all, chosen),
        {
          title: by === 'event' && event === undefined ? 'Events' : expect.stringMatching(/ by /),
          ...(rows.length > 0 && {
            rows: [
              ['All', ...cells(total)],
              ...rows.map((counts) => [labelOf(by, counts.values[0]) + share(of(counts), of(total)), ...cells(counts)]),
              ...(others ? [[moreRows(others.groups), ...cells(others)]] : []),
            ],
          }),
        },
      ];
    },
  };

  const funnel: PageSpec = {
    path: `events${query({ ...pageParameters, tab: 'funnel', steps, within, per })}`,
    cards: async () => {
      const { step } = await api.reportFunnel({
        ...inRange,
        times: 'include',
        step: steps.map((id) => ({ event: [id] })),
        within: { '30d': 2_592_000, '7d': 604_800, '1d': 86_400, '1h': 3_600 }[within],
        per,
      });
      const reached = step.map((one) => one.reached);
      return [
        { title: 'Steps' },
        {
          title: 'Funnel',
          ...(reached[0] && {
            rows: reached.map((one, nth) => {
              const [before, after] = [reached[nth - 1], reached[nth + 1]];
              return [
                `${nth + 1}. ${eventName(String(steps[nth]))}`,
                count(one),
                share(one, reached[0] ?? 0),
                before === undefined ? '' : share(one, before) || '–',
                medianOf(step[nth]),
                after === undefined ? '' : count(one - after),
              ];
            }),
          }),
        },
      ];
    },
  };

  const retention: PageSpec = {
    path: `events${query({ ...pageParameters, tab: 'retention', interval, first: first ?? 'any', back: 'any' })}`,
    cards: async () => {
      const { cohort } = await api.reportRetention({ ...inRange, interval, first: first && { event: [first] } });
      return [
        {
          title: 'Who came back',
          ...(cohort.some(({ people }) => people > 0) && {
            rows: cohort.map(({ people, back }) => [
              expect.any(String),
              count(people),
              ...back.map((one) => `${share(one, people)} (${count(one)})`),
            ]),
          }),
        },
      ];
    },
  };

  const nameOf = (one: PersonNames): string =>
    `${one.contactFirstname} ${one.contactLastname}`.trim() || one.contactEmailaddress || one.contactExternalID;
  const nameAndAddress = (one: PersonNames): string =>
    nameOf(one) + (one.contactEmailaddress === nameOf(one) ? '' : one.contactEmailaddress);
  const ago = expect.any(String);

  const contacts: PageSpec = {
    path: 'people',
    cards: async () => {
      const { contact } = await api.searchContact({ sort: 'seen', order: 'desc', limit: 50 });
      const rows = contact.map((one) => [
        nameAndAddress(one),
        one.tag.map(({ tagName }) => tagName).join(''),
        one.contactStatus,
        one.lastSeenTime ? dayWritten(one.lastSeenTime) : 'never',
        ago,
      ]);
      return [{ title: `Contacts · ${contact.length}`, ...(rows.length > 0 && { rows }) }];
    },
  };

  const everybody = (segment?: string): PageSpec => ({
    path: `people${query({ ...(segment === undefined ? pageParameters : { ...parameters, filter: JSON.stringify([{ segment }]) }), list: 'everybody' })}`,
    cards: async () => {
      const { person: people } = await api.reportPeople({
        ...inRange,
        filter: segment === undefined ? filter : { segment },
        ...ofRevenue,
        limit: 50,
      });
      const rows = people.map((one) => [
        one.contactUUID === '' ? `Visitor ${one.userUUID.slice(-6)}` : nameAndAddress(one),
        count(one.users),
        count(one.events),
        ...(hasRevenue ? [one.value?.sum == null ? '–' : money(one.value.sum)] : []),
        ago,
        ago,
      ]);
      const { total } = await api.reportTotals({ ...inRange, filter: segment === undefined ? filter : { segment } });
      return [{ title: `Everyone · ${total.people}`, ...(rows.length > 0 && { rows }) }];
    },
  });

  const contactPage = (contactUUID: string): PageSpec => ({
    path: `person${query({ contact: contactUUID })}`,
    cards: async () => {
      const { claim = [], link = [] } = await api.getContact({ contactUUID, include: 'claim,link' });
      const browsers = link.filter(({ current }) => current).length;
      return [
        { title: 'History' },
        { title: 'Details' },
        { title: browsers > 0 ? `Browsers · ${browsers}` : 'Browsers' },
        ...(claim.length > 0 ? [{ title: `Claims from browsers · ${claim.length}` }] : []),
      ];
    },
    events: async () => (await api.getEvent({ contactUUID })).event.length,
    texts: async () => {
      const { link = [], merge = [], contact } = await api.getContact({ contactUUID, include: 'link,merge' });
      return {
        h1: [expect.stringContaining(nameOf(contact))],
        '.turn': [...link, ...merge].map(() => expect.any(String)),
      };
    },
  });

  const browserPage = (userUUID: string): PageSpec => ({
    path: `person${query({ user: userUUID })}`,
    cards: async () => [{ title: 'History' }],
    events: async () => (await api.getEvent({ userUUID })).event.length,
  });

  const catalogue: PageSpec = {
    path: 'catalogue',
    cards: async () => {
      const { eventDefinition = [] } = await api.getEvent({ include: 'definition', limit: 1 });
      const usesOf = (id: number) => eventDefinition.find(({ eventID }) => eventID === id)?.count ?? 0;
      return [
        {
          title: `Events · ${count(account.event.length)}`,
          rows: account.event.map(({ eventID, eventName }) => [
            eventName,
            String(eventID),
            count(usesOf(eventID)),
            ago,
            ago,
            '',
            ...(isServer ? [''] : []),
          ]),
        },
      ];
    },
  };
  const segments: PageSpec = {
    path: 'catalogue?tab=segment',
    cards: async () => {
      const { segment } = await api.listSegments({});
      return [
        {
          title: `Segments · ${segment.length}`,
          ...(segment.length > 0 && { rows: segment.map(({ segmentName }) => [segmentName, ago, ago, '']) }),
        },
      ];
    },
  };

  const storage: PageSpec = {
    path: 'settings?tab=storage',
    cards: async () =>
      isServer ? [{ title: 'Stored data' }, { title: 'For the server’s operator' }] : [{ title: 'Storage' }],
    texts: async () => {
      if (!isServer) return {};
      const { usage } = (await api.getAccount({})).account;
      const megabytes = count(Math.ceil(usage.storedBytes / 1_000_000));
      return {
        '.stored dd': [...[usage.events, usage.contacts, usage.users].map(count), `${megabytes} MB`, 'Unlimited'],
      };
    },
  };
  const tokens: PageSpec = {
    path: 'settings',
    cards: async () => {
      if (!isServer) return [{ title: 'Account' }, { title: 'Privacy' }];
      const { token = [] } = (await site.api.getAccount({})).account;
      const sessions = token.filter(({ session }) => session);
      const row = (head: string | RegExp) => [expect.stringMatching(head), ago, ago, ago, ago, ''];
      return [
        {
          title: `Tokens · ${token.length - sessions.length}`,
          rows: token.flatMap(({ session }) => (session ? [] : [row(/./s)])),
        },
        { title: `Console sessions · ${sessions.length}`, rows: sessions.map(() => row(/this session|./)) },
      ];
    },
  };

  const { segment: savedSegments } = await api.listSegments({});
  const contactList = (await api.searchContact({ limit: 50 })).contact;
  const chosen = contactList[choice.nth % contactList.length];
  return [
    overview,
    live,
    explore,
    funnel,
    retention,
    contacts,
    everybody(),
    ...savedSegments.slice(0, 1).map(({ segmentName }) => everybody(segmentName)),
    ...(chosen ? [contactPage(chosen.contactUUID)] : []),
    browserPage(site.users[choice.nth % site.users.length] as string),
    catalogue,
    segments,
    storage,
    tokens,
  ];
};

/** Opens one of the numbers that link to people, and checks that the list has as many people. */
const openNumber = async (page: Page, nth: number): Promise<void> => {
  const numbers = page.locator('.number-link');
  const all = await numbers.count();
  if (all === 0) return;
  const number = numbers.nth(nth % all);
  const people = Number.parseInt(await number.evaluate(peopleOf), 10);
  // If the unit is sessions, one person may count several times.
  const isOfSessions = page.url().includes('per=session');
  await number.click();
  await page.getByRole('dialog').waitFor(soon);
  const listed = async () => {
    const rows = await page.getByRole('dialog').locator('tbody tr').count();
    return isOfSessions && rows > 0 ? rows <= people : rows === people;
  };
  await expect.poll(listed).toBe(true);
};

/** Returns the text on a page outside its cards. */
const readTexts = async (page: Page, selectors: readonly string[]) => {
  const entries = selectors.map(async (selector) => [selector, await page.evaluate(textsOf, selector)] as const);
  return Object.fromEntries(await Promise.all(entries));
};
const eventsInSessions = async (page: Page): Promise<number> => {
  const counts: string[] = await page.evaluate(textsOf, '.session-head > span:nth-of-type(1)');
  return counts.reduce((sum, text) => sum + Number.parseInt(text, 10), 0);
};

const checkPages = async (page: Page, pages: readonly PageSpec[], nth: number): Promise<void> => {
  for (const { path, cards, texts, events } of pages) {
    await page.goto(`${url}/console/${path}`);
    await page.locator('.card').first().waitFor(soon);
    await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
    const [expectedTexts = {}, expectedEvents] = await Promise.all([texts?.(), events?.()]);
    const expected = { path, cards: await cards(), texts: expectedTexts, events: expectedEvents };
    const readActual = async () => ({
      path,
      cards: await page.evaluate(consoleCards),
      texts: await readTexts(page, Object.keys(expectedTexts)),
      events: events && (await eventsInSessions(page)),
    });
    await expect.poll(readActual).toEqual(expected);
    if (path.startsWith('events')) await openNumber(page, nth);
  }
};

it('shows the same numbers as the API, for random histories', async () => {
  await fc.assert(
    fc.asyncProperty(historyArbitrary, choiceArbitrary, async (history, choice) => {
      const site = await replayHistory(url, history);
      const { page, context, signIn, complaints } = await openConsole(browser, { url });
      try {
        await signIn(choice.kind === 'viewer' ? site.viewerToken : site.serverToken);
        await checkPages(page, await pagesOf(site, history, choice), choice.nth);
        expect(complaints).toEqual([]);
      } finally {
        await context.close();
      }
    }),
    // Shrinking is off: each failing page is polled for several seconds before it fails.
    { numRuns: runs(2, 2), endOnFailure: true },
  );
});
