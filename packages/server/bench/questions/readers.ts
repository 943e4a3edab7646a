/**
 * Do readers hold up ingestion? Sends single events at half the rate that the server can take beside 20 readers who page without a pause.
 * Measures the latency with the readers and without, in turns, and the delay of the server's event loop.
 */
import { serverToken } from '../account.ts';
import { firstUserOf, openHistory } from '../history.ts';
import type { LoadResult } from '../processes/load.ts';
import { startLoad } from '../processes/loads.ts';
import { meanwhile } from '../processes/meanwhile.ts';
import { type Running, startServer } from '../processes/servers.ts';
import type { Options, Row } from '../question.ts';
import { onCopy } from '../remembered.ts';
import { median, ratio, whole } from '../table.ts';

const readers = 20;
const connections = 64;

const measure = async (server: Running, firstUser: number, quick: boolean): Promise<Row[]> => {
  const { port } = server;
  const whileReading = <Value>(work: () => Promise<Value>) => meanwhile('reader', [port, readers], work);
  const load = await startLoad();
  const milliseconds = quick ? 1_000 : 5_000;
  const ask = (requestsPerSecond?: number) => {
    const request = { events: 1 };
    const paced = requestsPerSecond === undefined ? {} : { requestsPerSecond };
    return load.run({ port, token: serverToken, connections, request, firstUser, milliseconds, ...paced });
  };
  try {
    const most = await whileReading(() => ask());
    const rate = Math.floor(most.value.eventsPerSecond / 2);
    const without: LoadResult[] = [];
    const within: LoadResult[] = [];
    const delays: number[] = [];
    const pages: number[] = [];
    for (let round = 0; round < (quick ? 1 : 3); round += 1) {
      without.push(await ask(rate));
      const read = await whileReading(async () => {
        await server.ask('watch the event loop');
        const result = await ask(rate);
        delays.push((await server.ask('event loop delay')) as number);
        return result;
      });
      within.push(read.value);
      pages.push(read.perSecond);
    }
    const quantile = (results: readonly LoadResult[], name: 'p50' | 'p99') => median(results.map((one) => one[name]));
    const row = (name: 'p50' | 'p99', bar: string): Row => ({
      measured: `${name} ms of an event with ${readers} readers, beside none`,
      floor: quantile(without, name).toFixed(2),
      ours: quantile(within, name).toFixed(2),
      ratio: ratio(quantile(within, name), quantile(without, name)),
      bar,
    });
    return [
      { measured: 'events/s that were sent, with the readers and without', ours: whole(rate), bar: '' },
      row('p50', ''),
      row('p99', '≤ 1.2 ×'),
      { measured: 'event loop of the server late by, meanwhile: p99 ms', ours: median(delays).toFixed(1), bar: '< 20' },
      { measured: 'pages of 100 that the readers got, in a second', ours: whole(median(pages)), bar: '' },
    ];
  } finally {
    load.stop();
  }
};

export const run = async ({ quick, events }: Options): Promise<Row[]> => {
  const history = await openHistory(events);
  return onCopy(history, async (path) => {
    const server = await startServer('durable', path);
    try {
      return await measure(server, firstUserOf(history), quick);
    } finally {
      await server.stop();
    }
  });
};
