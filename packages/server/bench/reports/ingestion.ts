/**
 * Measures how much reports slow down ingestion. Sends single events at half the server's maximum rate, alternately
 * with and without a process that requests reports in a loop. Each report first reads the events that are new since the
 * previous report.
 */
import { serverToken } from '../account.ts';
import type { Options, Row } from '../benchmark.ts';
import { withCopy } from '../cached-database.ts';
import { getFirstUser, openHistory } from '../history.ts';
import type { LoadResult } from '../processes/load.ts';
import { startLoad } from '../processes/loads.ts';
import { runAlongside } from '../processes/run-alongside.ts';
import { startServer } from '../processes/servers.ts';
import { median, ratio, whole } from '../table.ts';

/** A longer history would make each report longer, but not more frequent. */
const maxEvents = 1_000_000;
const connections = 64;
/** The number of report kinds: each is requested once before the measurement (processes/report-client.ts). */
const firstReports = 6;

const title = 'ingestion with reports vs. none';

export const measureIngestion = async ({ quick, events }: Options): Promise<Row[]> => {
  const history = await openHistory(quick ? Math.min(events, 200_000) : Math.min(events, maxEvents));
  return withCopy(history, async (path) => {
    const server = await startServer('reporting', path);
    const load = await startLoad();
    const milliseconds = quick ? 1_000 : 5_000;
    const { port } = server;
    const firstUser = getFirstUser(history);
    const send = (requestsPerSecond?: number): Promise<LoadResult> => {
      const rateOption = requestsPerSecond === undefined ? {} : { requestsPerSecond };
      return load.run({
        port,
        token: serverToken,
        connections,
        request: { events: 1 },
        firstUser,
        milliseconds,
        ...rateOption,
      });
    };
    const whileReporting = (work: () => Promise<LoadResult>) =>
      runAlongside('report-client', [port, history.about.from], work, { first: firstReports });
    try {
      const peakRate = await send();
      const { value: peak } = await whileReporting(() => send());
      const rate = Math.floor(peak.eventsPerSecond / 2);
      const without: LoadResult[] = [];
      const within: LoadResult[] = [];
      const reports: number[] = [];
      for (let round = 0; round < (quick ? 1 : 3); round += 1) {
        without.push(await send(rate));
        const result = await whileReporting(() => send(rate));
        within.push(result.value);
        reports.push(result.perSecond);
      }
      const row = (figure: string, name: 'eventsPerSecond' | 'p50' | 'p99', digits: number, bar: string): Row => {
        const of = (results: readonly LoadResult[]) => median(results.map((one) => one[name]));
        return {
          measured: `${title}: ${figure}`,
          floor: of(without).toFixed(digits),
          ours: of(within).toFixed(digits),
          ratio: ratio(of(within), of(without)),
          bar,
        };
      };
      return [
        {
          measured: `${title}: max single events/s`,
          floor: whole(peakRate.eventsPerSecond),
          ours: whole(peak.eventsPerSecond),
          ratio: ratio(peak.eventsPerSecond, peakRate.eventsPerSecond),
          bar: '',
        },
        row('single events/s, sent at half of the maximum', 'eventsPerSecond', 0, ''),
        row('p50 ms', 'p50', 2, ''),
        row('p99 ms', 'p99', 2, '≤ 1.5 ×'),
        {
          measured: `reports/s during ingestion, over ${whole(history.about.events)} events`,
          ours: median(reports).toFixed(1),
          bar: '',
        },
      ];
    } finally {
      load.stop();
      await server.stop();
    }
  });
};
