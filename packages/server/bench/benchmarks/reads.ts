/**
 * Measures how long it takes to read a page of events. Times sequential pages, each of a different contact, day or
 * value, through the Store, which reads in a separate thread, and over HTTP. The floor is a round trip that reads
 * almost nothing.
 */
import { createReadStream } from 'node:fs';
import { Agent, get } from 'node:http';
import type { EventQuery, Store } from '../../src/store/store.ts';
import { openBenchmark, serverToken } from '../account.ts';
import type { Options, Row } from '../benchmark.ts';
import { type History, historyDays, openHistory } from '../history.ts';
import type { Latencies } from '../latencies.ts';
import { startServer } from '../processes/servers.ts';
import { ratio } from '../table.ts';
import { timeEach } from '../timing.ts';
import { contactName, createRandom } from '../visits.ts';

const day = 86_400_000;

/** The fields of getEvents that the Store and HTTP have in common. */
type Filter = Pick<EventQuery, 'contactUUID' | 'eventID' | 'attrID' | 'attrValue' | 'from' | 'to' | 'limit'>;

interface Page {
  readonly title: string;
  readonly bar: string;
  readonly filter: (random: () => number, history: History) => Filter;
}

const pickDay = (random: () => number, { from }: History) => {
  const begin = from + Math.floor(random() * (historyDays - 1)) * day;
  return { from: begin, to: begin + day };
};

const newestOfContact: Page = {
  title: "a contact's newest 50",
  bar: '< 5',
  filter: (random, { contacts }) => {
    const contact = contacts[Math.floor(random() * contacts.length)] as number;
    return { contactUUID: contactName(contact), limit: 50 };
  },
};

const pages: readonly Page[] = [
  newestOfContact,
  {
    title: '100 of one eventID within a day',
    bar: '< 10',
    filter: (random, history) => ({
      eventID: 1 + Math.floor(random() * 20),
      ...pickDay(random, history),
      limit: 100,
    }),
  },
  {
    title: '100 with an attribute (of 500 values) within a day',
    bar: '< 10',
    filter: (random, history) => ({
      attrID: 'path',
      attrValue: `/products/${Math.floor(random() * 500)}`,
      ...pickDay(random, history),
      limit: 100,
    }),
  },
  {
    title: '100 with a rare attribute (of one event in 10,000) within a day',
    bar: '< 10',
    filter: (random, history) => ({
      attrID: 'coupon',
      attrValue: 'welcome',
      ...pickDay(random, history),
      limit: 100,
    }),
  },
  { title: 'the newest 100 of the account', bar: '< 10', filter: () => ({ limit: 100 }) },
];

/** The maximum time for all requests for one kind of page. */
const maxMilliseconds = 6_000;

/** The number of requests for each kind of page before the measurement, so that V8 has compiled the code. */
const warmupSamples = 101;

const createFilters = ({ filter }: Page, history: History, samples: number): Filter[] => {
  const random = createRandom(samples);
  return Array.from({ length: samples }, () => filter(random, history));
};

/** Reads the file into the page cache, so that no page of events waits for the disk. */
const readThrough = async (path: string): Promise<void> => {
  for await (const _ of createReadStream(path, { highWaterMark: 1024 * 1024 }));
};

const createHTTPReader = (port: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { authorization: `Bearer ${serverToken}` };
  return (path: string) =>
    new Promise<void>((resolve, reject) => {
      const clientRequest = get({ host: '127.0.0.1', port, path, agent, headers }, (response) => {
        response.resume();
        response.on('end', () =>
          response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`)),
        );
      });
      clientRequest.on('error', reject);
    });
};

const toPath = (filter: Filter): string => {
  const parameters = Object.entries(filter).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return `/event/getEvent?${parameters.join('&')}`;
};

const createRow = (title: string, floor: Latencies, ours: Latencies, bar: string): Row => ({
  measured: `${title}: p99 ms (p50)`,
  floor: `${floor.quantile(0.99).toFixed(2)} (${floor.quantile(0.5).toFixed(2)})`,
  ours: `${ours.quantile(0.99).toFixed(2)} (${ours.quantile(0.5).toFixed(2)})`,
  bar,
});

const withStore = async <Value>(path: string, use: (store: Store, account: number) => Promise<Value>) => {
  const { store, caller } = await openBenchmark(path);
  try {
    return await use(store, caller.account);
  } finally {
    await store.close();
  }
};

const measureStore = (path: string, history: History, samples: number, measured: readonly Page[]) =>
  withStore(path, async (store, account) => {
    const floor = await timeEach(Array.from({ length: samples }), () => store.check());
    const results: { page: Page; floor: Latencies; ours: Latencies }[] = [];
    for (const page of measured) {
      const read = (filter: Filter) => store.getEvents({ ...filter, account, order: 'desc' });
      await timeEach(createFilters(page, history, warmupSamples), read, maxMilliseconds);
      const ours = await timeEach(createFilters(page, history, samples), read, maxMilliseconds);
      results.push({ page, floor, ours });
    }
    return results;
  });

const measureHTTP = async (path: string, history: History, samples: number): Promise<Row[]> => {
  const server = await startServer('durable', path);
  try {
    const read = createHTTPReader(server.port);
    const floor = await timeEach(Array.from({ length: samples }), () => read('/readyz'));
    const rows: Row[] = [];
    for (const page of pages) {
      await timeEach(createFilters(page, history, warmupSamples).map(toPath), read, maxMilliseconds);
      const ours = await timeEach(createFilters(page, history, samples).map(toPath), read, maxMilliseconds);
      rows.push(createRow(`${page.title}, over HTTP`, floor, ours, page.bar));
    }
    return rows;
  } finally {
    await server.stop();
  }
};

export const run = async ({ quick, events }: Options): Promise<Row[]> => {
  const samples = quick ? 30 : 1_000;
  const { path, about } = await openHistory(events);
  const smaller = await openHistory(Math.ceil(events / 10));
  for (const each of [smaller.path, path]) await readThrough(each);
  const [before] = await measureStore(smaller.path, smaller.about, samples, [newestOfContact]);
  const results = await measureStore(path, about, samples, pages);
  const [tenth, all] = [before?.ours, results[0]?.ours] as [Latencies, Latencies];
  const comparison = {
    ...createRow(`${newestOfContact.title} vs. a tenth of the history`, tenth, all, '≤ 1.5 ×'),
    ratio: ratio(all.quantile(0.99), tenth.quantile(0.99)),
  };
  return [
    ...results.map(({ page, floor, ours }) => createRow(page.title, floor, ours, page.bar)),
    comparison,
    ...(await measureHTTP(path, about, samples)),
  ];
};
