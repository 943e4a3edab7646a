/**
 * How long does a page of events take? Times pages one after the other, each of another contact, day or value, through the Store, which reads
 * on a thread of its own, and over HTTP. The floor is a round trip that reads next to nothing.
 */
import { createReadStream } from 'node:fs';
import { Agent, get } from 'node:http';
import type { EventQuery, Store } from '../../src/store/store.ts';
import { openBenchmark, serverToken } from '../account.ts';
import { type History, historyDays, openHistory } from '../history.ts';
import type { Latencies } from '../latencies.ts';
import { startServer } from '../processes/servers.ts';
import type { Options, Row } from '../question.ts';
import { ratio } from '../table.ts';
import { timeEach } from '../timing.ts';
import { contactName, createRandom } from '../visits.ts';

const day = 86_400_000;

/** The fields of getEvents that the Store and HTTP share. */
type Filter = Pick<EventQuery, 'contactUUID' | 'eventID' | 'attrID' | 'attrValue' | 'from' | 'to' | 'limit'>;

interface Page {
  readonly what: string;
  readonly bar: string;
  readonly filter: (random: () => number, history: History) => Filter;
}

const someDay = (random: () => number, { from }: History) => {
  const begin = from + Math.floor(random() * (historyDays - 1)) * day;
  return { from: begin, to: begin + day };
};

const newestOfContact: Page = {
  what: "a contact's newest 50",
  bar: '< 5',
  filter: (random, { contacts }) => {
    const contact = contacts[Math.floor(random() * contacts.length)] as number;
    return { contactUUID: contactName(contact), limit: 50 };
  },
};

const pages: readonly Page[] = [
  newestOfContact,
  {
    what: '100 of an eventID within a day',
    bar: '< 10',
    filter: (random, history) => ({
      eventID: 1 + Math.floor(random() * 20),
      ...someDay(random, history),
      limit: 100,
    }),
  },
  {
    what: '100 with an attribute (of 500 values) within a day',
    bar: '< 10',
    filter: (random, history) => ({
      attrID: 'path',
      attrValue: `/products/${Math.floor(random() * 500)}`,
      ...someDay(random, history),
      limit: 100,
    }),
  },
  {
    what: '100 with a rare attribute (of one event in 10,000) within a day',
    bar: '< 10',
    filter: (random, history) => ({
      attrID: 'coupon',
      attrValue: 'welcome',
      ...someDay(random, history),
      limit: 100,
    }),
  },
  { what: 'the newest 100 of the account', bar: '< 10', filter: () => ({ limit: 100 }) },
];

/** Requests for each kind of page: fewer where one takes long. */
const maxMilliseconds = 6_000;

/** Requests of each kind before the measurement, so that V8 has compiled the code. */
const unmeasured = 101;

const filtersOf = ({ filter }: Page, history: History, samples: number): Filter[] => {
  const random = createRandom(samples);
  return Array.from({ length: samples }, () => filter(random, history));
};

/** Reads the file once, so that no page waits for the disk. */
const readThrough = async (path: string): Promise<void> => {
  for await (const _ of createReadStream(path, { highWaterMark: 1024 * 1024 }));
};

const askHTTP = (port: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { authorization: `Bearer ${serverToken}` };
  return (path: string) =>
    new Promise<void>((resolve, reject) => {
      const asked = get({ host: '127.0.0.1', port, path, agent, headers }, (answer) => {
        answer.resume();
        answer.on('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(`${answer.statusCode}`))));
      });
      asked.on('error', reject);
    });
};

const toPath = (filter: Filter): string => {
  const given = Object.entries(filter).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return `/event/getEvent?${given.join('&')}`;
};

const rowOf = (what: string, floor: Latencies, ours: Latencies, bar: string): Row => ({
  measured: `${what}: p99 ms (p50)`,
  floor: `${floor.quantile(0.99).toFixed(2)} (${floor.quantile(0.5).toFixed(2)})`,
  ours: `${ours.quantile(0.99).toFixed(2)} (${ours.quantile(0.5).toFixed(2)})`,
  bar,
});

const withStore = async <Value>(path: string, use: (store: Store, account: number) => Promise<Value>) => {
  const { store, asker } = await openBenchmark(path);
  try {
    return await use(store, asker.account);
  } finally {
    await store.close();
  }
};

const measureStore = (path: string, history: History, samples: number, measured: readonly Page[]) =>
  withStore(path, async (store, account) => {
    const floor = await timeEach(Array.from({ length: samples }), () => store.check());
    const found: { page: Page; floor: Latencies; ours: Latencies }[] = [];
    for (const page of measured) {
      const ask = (filter: Filter) => store.getEvents({ ...filter, account, order: 'desc' });
      await timeEach(filtersOf(page, history, unmeasured), ask, maxMilliseconds);
      const ours = await timeEach(filtersOf(page, history, samples), ask, maxMilliseconds);
      found.push({ page, floor, ours });
    }
    return found;
  });

const measureHTTP = async (path: string, history: History, samples: number): Promise<Row[]> => {
  const server = await startServer('durable', path);
  try {
    const ask = askHTTP(server.port);
    const floor = await timeEach(Array.from({ length: samples }), () => ask('/readyz'));
    const rows: Row[] = [];
    for (const page of pages) {
      await timeEach(filtersOf(page, history, unmeasured).map(toPath), ask, maxMilliseconds);
      const ours = await timeEach(filtersOf(page, history, samples).map(toPath), ask, maxMilliseconds);
      rows.push(rowOf(`${page.what}, over HTTP`, floor, ours, page.bar));
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
  const found = await measureStore(path, about, samples, pages);
  const [tenth, all] = [before?.ours, found[0]?.ours] as [Latencies, Latencies];
  const overTenth = {
    ...rowOf(`${newestOfContact.what}, beside a tenth of the history`, tenth, all, '≤ 1.5 ×'),
    ratio: ratio(all.quantile(0.99), tenth.quantile(0.99)),
  };
  return [
    ...found.map(({ page, floor, ours }) => rowOf(page.what, floor, ours, page.bar)),
    overTenth,
    ...(await measureHTTP(path, about, samples)),
  ];
};
