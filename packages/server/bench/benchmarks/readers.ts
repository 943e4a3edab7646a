/**
 * Measures whether readers slow down ingestion. Sends single events at a constant rate, alternately with and without
 * 20 readers that page without a pause. The rate is half the maximum with readers. Also measures the event-loop delay.
 */
import { serverToken } from '../account.ts';
import type { Options, Row } from '../benchmark.ts';
import { withCopy } from '../cached-database.ts';
import { getFirstUser, openHistory } from '../history.ts';
import type { LoadResult } from '../processes/load.ts';
import { startLoad } from '../processes/loads.ts';
import { runAlongside } from '../processes/run-alongside.ts';
import { type RunningServer, startServer } from '../processes/servers.ts';
import { median, ratio, whole } from '../table.ts';

const readers = 20;
const connections = 64;

const measure = async (server: RunningServer, firstUser: number, quick: boolean): Promise<Row[]> => {
  const { port } = server;
  const whileReading = <Value>(work: () => Promise<Value>) => runAlongside('reader', [port, readers], work);
  const load = await startLoad();
  const milliseconds = quick ? 1_000 : 5_000;
  const send = (requestsPerSecond?: number) => {
    const request = { events: 1 };
    const rateOption = requestsPerSecond === undefined ? {} : { requestsPerSecond };
    return load.run({ port, token: serverToken, connections, request, firstUser, milliseconds, ...rateOption });
  };
  try {
    const peak = await whileReading(() => send());
    const rate = Math.floor(peak.value.eventsPerSecond / 2);
    const without: LoadResult[] = [];
    const within: LoadResult[] = [];
    const delays: number[] = [];
    const pages: number[] = [];
    for (let round = 0; round < (quick ? 1 : 3); round += 1) {
      without.push(await send(rate));
      const reading = await whileReading(async () => {
        await server.send('watch the event loop');
        const result = await send(rate);
        delays.push((await server.send('event loop delay')) as number);
        return result;
      });
      within.push(reading.value);
      pages.push(reading.perSecond);
    }
    const quantile = (results: readonly LoadResult[], name: 'p50' | 'p99') => median(results.map((one) => one[name]));
    const row = (name: 'p50' | 'p99', bar: string): Row => ({
      measured: `${name} ms per event with ${readers} readers vs. none`,
      floor: quantile(without, name).toFixed(2),
      ours: quantile(within, name).toFixed(2),
      ratio: ratio(quantile(within, name), quantile(without, name)),
      bar,
    });
    return [
      { measured: 'events/s sent, with and without readers', ours: whole(rate), bar: '' },
      row('p50', ''),
      row('p99', '≤ 1.2 ×'),
      {
        measured: 'server event-loop delay with readers: p99 ms',
        ours: median(delays).toFixed(1),
        bar: '< 20',
      },
      { measured: 'pages of 100 read per second', ours: whole(median(pages)), bar: '' },
    ];
  } finally {
    load.stop();
  }
};

export const run = async ({ quick, events }: Options): Promise<Row[]> => {
  const history = await openHistory(events);
  return withCopy(history, async (path) => {
    const server = await startServer('durable', path);
    try {
      return await measure(server, getFirstUser(history), quick);
    } finally {
      await server.stop();
    }
  });
};
