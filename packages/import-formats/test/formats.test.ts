/** Each file in this folder was written to match its tool's published description. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toSource } from '../src/files/source.fixture.ts';
import {
  detectFormat,
  type FormatName,
  formatNames,
  formats,
  type Message,
  type Reading,
  readMessages,
} from '../src/index.ts';

const load = (file: string): Buffer => readFileSync(new URL(file, import.meta.url));

const readAll = async (content: string | Uint8Array, format: FormatName): Promise<Reading[]> => {
  const readings: Reading[] = [];
  for await (const reading of readMessages(toSource(content, 500), format)) readings.push(reading);
  return readings;
};

const count = (values: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
};

const summarize = (readings: readonly Reading[]) => {
  const messages = readings.flatMap((reading) => ('message' in reading ? reading.message : []));
  return {
    messages: count(messages.map(({ type }) => String(type))),
    browsers: new Set(messages.flatMap(({ anonymousId }) => anonymousId ?? [])).size,
    contacts: new Set(messages.flatMap(({ userId }) => userId ?? [])).size,
    skipped: count(readings.flatMap((reading) => ('skipped' in reading ? reading.skipped : []))),
    problems: readings.flatMap((reading) => ('problem' in reading ? `${reading.line}: ${reading.problem}` : [])),
  };
};

const posthogTotals = {
  messages: { page: 7, screen: 1, track: 4, identify: 2, alias: 1 },
  browsers: 4,
  contacts: 3,
  skipped: { 'not an event': 5 },
  problems: [],
};

describe.each<[file: string, format: FormatName, totals: ReturnType<typeof summarize>]>([
  [
    'segment.jsonl',
    'segment',
    {
      messages: { page: 6, screen: 1, track: 5, identify: 1, group: 1, alias: 1 },
      browsers: 3,
      contacts: 3,
      skipped: {},
      problems: [],
    },
  ],
  ['posthog.jsonl', 'posthog', posthogTotals],
  ['posthog.csv', 'posthog', posthogTotals],
  [
    'ga4.jsonl',
    'ga4',
    {
      messages: { page: 8, screen: 1, track: 2 },
      browsers: 6,
      contacts: 1,
      skipped: { 'not an event': 9, 'no visitor': 1 },
      problems: [],
    },
  ],
  [
    'umami.csv',
    'umami',
    { messages: { page: 8, track: 3 }, browsers: 5, contacts: 1, skipped: { 'not an event': 1 }, problems: [] },
  ],
  [
    'matomo.json',
    'matomo',
    {
      messages: { page: 5, track: 6 },
      browsers: 3,
      contacts: 1,
      skipped: { 'not an event': 2 },
      problems: ['274: `actionDetails[2].timestamp` is empty; expected seconds since 1970 (visit 4)'],
    },
  ],
  [
    'goatcounter.csv',
    'goatcounter',
    { messages: { page: 9, track: 2 }, browsers: 5, contacts: 0, skipped: { robot: 2, 'no visitor': 1 }, problems: [] },
  ],
])('%s', (file, format, totals) => {
  it('is recognized, even if it is compressed', async () => {
    expect(await detectFormat(toSource(load(file)))).toBe(format);
    expect(await detectFormat(toSource(gzipSync(load(file))))).toBe(format);
  });

  it('has the expected totals', async () => {
    expect(summarize(await readAll(load(file), format))).toEqual(totals);
  });

  it('gives the same messages in the same order each time', async () => {
    const readings = await readAll(load(file), format);
    expect(await readAll(gzipSync(load(file)), format)).toEqual(readings);
  });

  it('has times in UTC, as ISO 8601', async () => {
    const times = (await readAll(load(file), format)).flatMap((reading) =>
      'message' in reading ? String(reading.message.timestamp) : [],
    );
    expect(times.filter((time) => !/^2026-11-01T09:3\d:\d\d\.\d{3}Z$/.test(time))).toEqual([]);
  });

  it('can be truncated anywhere, and is read up to that point', () =>
    fc.assert(
      fc.asyncProperty(fc.double({ min: 0, max: 1, noNaN: true }), async (share) => {
        const content = load(file);
        const whole = await readAll(content, format);
        const end = Math.floor(share * content.length);
        const readings = await readAll(content.subarray(0, end), format).catch((error: Error) => [error]);
        const last = whole.slice(0, Math.max(0, readings.length - 2));
        expect(readings.slice(0, last.length)).toEqual(last);
      }),
      { numRuns: 20 },
    ));
});

describe('every format', () => {
  const names = fc.constantFrom(...new Set(formatNames.flatMap((name) => formats[name].fields)), 'properties', 'a');
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom('2026-11-01 09:30:00', '1793525400', '1', '$set'),
  );
  const row = fc.dictionary(names, value);

  it.each(formatNames)('%s converts any row to messages, leaves it out, or reports a problem', (name) =>
    fc.assert(
      fc.property(
        row,
        fc.constantFrom({}, { timestamp: '2026-11-01T09:30:00Z', event: 'a', distinct_id: 'b' }),
        (fields, known) => {
          const outcomes = formats[name].toMessages({ ...fields, ...known });
          for (const outcome of outcomes) {
            expect(Object.keys(outcome)).toEqual([expect.stringMatching(/^(?:message|skipped|problem)$/)]);
            expect(() => JSON.stringify(outcome)).not.toThrow();
          }
          expect(outcomes.length).toBeGreaterThanOrEqual(name === 'matomo' ? 0 : 1);
        },
      ),
    ),
  );
});

/** A file's nth message. */
const messageAt = async (file: string, format: FormatName, index: number): Promise<Message | undefined> =>
  (await readAll(load(file), format)).flatMap((reading) => ('message' in reading ? reading.message : []))[index];

const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0';
const onLinux = { browser: 'Firefox', os: 'Linux', device: 'desktop', country: 'DE' };

describe('PostHog', () => {
  const device = '0192e8a1-0000-7000-8000-000000000001';

  it('takes a page view’s campaign only from its URL, and drops PostHog’s own properties', async () => {
    expect(await messageAt('posthog.jsonl', 'posthog', 0)).toEqual({
      messageId: '0192e8a1-0000-7abc-8def-0123456789ab',
      timestamp: '2026-11-01T09:30:01.123Z',
      type: 'page',
      anonymousId: device,
      context: {
        page: {
          url: 'https://shop.example/tea?utm_source=news&coupon=secret',
          path: '/tea',
          title: 'Tea',
          referrer: 'https://news.example/list',
        },
        userAgent,
        labels: onLinux,
      },
    });
  });

  it('links the browser that sent $identify, with the person’s properties', async () => {
    expect(await messageAt('posthog.jsonl', 'posthog', 8)).toMatchObject({
      type: 'identify',
      anonymousId: device,
      userId: 'customer-77',
      traits: { email: 'bo@shop.example', name: 'Bo Berg', plan: 'pro', signed_up: '2026-11-01' },
    });
    expect(await messageAt('posthog.jsonl', 'posthog', 11)).toMatchObject({
      type: 'identify',
      userId: 'customer-77',
      traits: { email: 'bo@shop.example', plan: 'max' },
    });
  });

  it('identifies an event’s person after $identify, or if a server sent it', async () => {
    const [order, invoice] = [
      await messageAt('posthog.jsonl', 'posthog', 10),
      await messageAt('posthog.csv', 'posthog', 12),
    ];
    expect(order).toMatchObject({ anonymousId: device, userId: 'customer-77', event: 'order completed' });
    expect(order?.properties).toEqual({ total: 48, currency: 'EUR', path: '/thanks' });
    expect(invoice).toMatchObject({ userId: 'customer-79', event: 'invoice paid', properties: { amount: 48 } });
    expect(invoice).not.toHaveProperty('anonymousId');
  });

  it('logs $autocapture with its element’s text', async () => {
    expect(await messageAt('posthog.jsonl', 'posthog', 7)).toMatchObject({
      type: 'track',
      event: '$autocapture',
      properties: { type: 'click', text: 'Add to cart', path: '/tea' },
    });
  });
});

describe('Google Analytics 4', () => {
  it('converts a page view’s path, campaign and labels, and drops GA4’s own parameters', async () => {
    expect(await messageAt('ga4.jsonl', 'ga4', 0)).toEqual({
      type: 'page',
      timestamp: '2026-11-01T09:30:01.123Z',
      anonymousId: '1234567890.1699990001',
      context: {
        page: {
          url: 'https://shop.example/tea?utm_source=news&key=secret',
          path: '/tea',
          title: 'Tea',
          referrer: 'https://news.example/',
        },
        campaign: { name: 'autumn', source: 'news', medium: 'cpc' },
        labels: { browser: 'Safari', os: 'macOS', device: 'desktop', country: 'DE' },
      },
    });
  });

  it('keeps a search engine only as the referrer, and keeps the name of a Google Ads campaign', async () => {
    const [organic, ads] = [await messageAt('ga4.jsonl', 'ga4', 6), await messageAt('ga4.jsonl', 'ga4', 7)];
    expect(organic?.context).toEqual({
      page: { url: 'https://shop.example/', path: '/', title: 'Home', referrer: 'https://www.google.com/' },
      labels: { browser: 'Samsung Internet for Android', os: 'Android', device: 'phone', country: 'TR' },
    });
    expect(ads?.context).toMatchObject({ campaign: { source: 'google', medium: 'cpc', name: 'brand' } });
  });

  it('identifies an event’s person, and keeps its custom parameters and its page’s path', async () => {
    expect(await messageAt('ga4.jsonl', 'ga4', 9)).toMatchObject({
      type: 'track',
      event: 'purchase',
      userId: 'customer-77',
      properties: { transaction_id: 'T-4711', value: 48.5, currency: 'EUR', path: '/thanks' },
    });
  });
});

describe('Umami', () => {
  it('converts a page view’s URL, campaign and labels', async () => {
    expect(await messageAt('umami.csv', 'umami', 0)).toEqual({
      type: 'page',
      messageId: '8b1c2d3e-0000-4000-8000-000000000001',
      timestamp: '2026-11-01T09:30:01.000Z',
      anonymousId: '6f1c2d3e-0000-5000-8000-000000000001',
      context: {
        page: {
          path: '/tea',
          search: '?utm_source=news&utm_campaign=autumn&key=secret',
          url: 'https://shop.example/tea?utm_source=news&utm_campaign=autumn&key=secret',
          title: 'Tea, "the best"',
          referrer: 'https://news.example/list?id=7',
        },
        campaign: { name: 'autumn', source: 'news' },
        labels: { browser: 'Microsoft Edge', os: 'Windows', device: 'desktop', country: 'DE' },
      },
    });
  });

  it('restores a cell that Umami has protected from spreadsheets', async () => {
    expect(await messageAt('umami.csv', 'umami', 1)).toMatchObject({ context: { page: { title: '=Cart' } } });
    expect(await messageAt('umami.csv', 'umami', 8)).toMatchObject({
      event: '+1 clicked',
      userId: 'customer-77',
      properties: { path: '/thanks', tag: 'b' },
    });
  });

  it('omits labels with unknown values', async () => {
    expect(await messageAt('umami.csv', 'umami', 10)).toMatchObject({
      context: { page: { referrer: 'https://www.google.com/' } },
    });
    expect((await messageAt('umami.csv', 'umami', 10))?.context).not.toHaveProperty('labels');
  });

  it('reads a PostgreSQL table’s columns', () => {
    const row = { event_id: 'e-1', session_id: 's-1', created_at: '2026-11-01 11:30:00.5+02', url_path: '/' };
    expect(formats.umami.toMessages({ ...row, url_query: '', event_type: '1' })).toEqual([
      {
        message: {
          type: 'page',
          messageId: 'e-1',
          timestamp: '2026-11-01T09:30:00.500Z',
          anonymousId: 's-1',
          context: { page: { path: '/' } },
        },
      },
    ]);
  });
});

describe('Matomo', () => {
  it('puts a visit’s campaign and referrer in its first page view', async () => {
    expect(await messageAt('matomo.json', 'matomo', 0)).toEqual({
      type: 'page',
      messageId: 'matomo-1-101',
      timestamp: '2026-11-01T09:30:00.000Z',
      anonymousId: 'c0ffee0000000001',
      context: {
        page: { url: 'https://shop.example/tea', path: '/tea', title: 'Tea' },
        campaign: { name: 'autumn', term: 'green tea' },
        labels: onLinux,
      },
    });
    expect((await messageAt('matomo.json', 'matomo', 1))?.context).not.toHaveProperty('campaign');
    expect(await messageAt('matomo.json', 'matomo', 3)).toMatchObject({
      context: { page: { referrer: 'https://news.example/list?id=7' } },
    });
  });

  it('names events by category and action, and other actions by type', async () => {
    const all = await readAll(load('matomo.json'), 'matomo');
    const tracks = all.flatMap((reading) =>
      'message' in reading && reading.message.type === 'track' ? reading.message : [],
    );
    expect(tracks.map(({ event, properties }) => [event, properties])).toEqual([
      ['Cart: Add', { name: 'T-1', value: 4.5, path: '/cart' }],
      ['Site searched', { keyword: 'oolong', category: 'tea', count: '4' }],
      ['File downloaded', { url: 'https://shop.example/list.pdf' }],
      ['Outlink clicked', { url: 'https://partner.example/' }],
      [
        'Order completed',
        { orderId: '4711', revenue: 48.5, subtotal: '44.00', tax: '4.50', shipping: '0', discount: '0', items: '2' },
      ],
      ['Goal converted', { goalName: 'Order', goalId: '1', revenue: 48.5, path: '/thanks' }],
    ]);
    expect(tracks.at(-1)).toMatchObject({ userId: 'customer-77', anonymousId: 'c0ffee0000000001' });
  });
});

describe('GoatCounter', () => {
  it('converts a page view’s path, query, referrer and labels', async () => {
    expect(await messageAt('goatcounter.csv', 'goatcounter', 0)).toEqual({
      type: 'page',
      timestamp: '2026-11-01T09:30:01.000Z',
      anonymousId: '287fb97cbed4e4f-8e4f5c975b8fee01',
      context: {
        page: { path: '/tea', search: '?size=s', title: 'Tea, green', referrer: 'https://news.example/list' },
        labels: { browser: 'Firefox', os: 'Linux', country: 'DE' },
      },
    });
  });

  it('uses the name of a campaign or a recognized site as the source', async () => {
    const sources = [6, 7, 8].map((index) => messageAt('goatcounter.csv', 'goatcounter', index));
    expect((await Promise.all(sources)).map((message) => message?.context)).toEqual([
      expect.objectContaining({ campaign: { source: 'autumn-mail' } }),
      expect.objectContaining({ campaign: { source: 'Hacker News' } }),
      expect.not.objectContaining({ campaign: expect.anything() }),
    ]);
  });

  it('uses an event’s path as its name', async () => {
    expect(await messageAt('goatcounter.csv', 'goatcounter', 9)).toMatchObject({ type: 'track', event: 'add-to-cart' });
    expect(await messageAt('goatcounter.csv', 'goatcounter', 10)).toMatchObject({
      event: 'call-us',
      context: { userAgent },
    });
  });

  it('rejects a file of a different version', async () => {
    const other = load('goatcounter.csv').toString().replace('2Path', '3Path');
    await expect(readAll(other, 'goatcounter')).rejects.toThrow('the header has no column `2Path`');
  });
});

describe('daily totals', () => {
  it.each([
    ['Plausible', 'date,visitors,pageviews,bounces,visits,visit_duration\n2026-11-01,3,9,1,3,60\n'],
    ['Plausible’s pages', 'date,hostname,page,visits,visitors,pageviews\n2026-11-01,shop.example,/,3,3,9\n'],
  ])('are refused with an explanation: %s', async (_, text) => {
    await expect(detectFormat(toSource(text))).rejects.toThrow(/daily totals, as Plausible exports them/);
  });
});
