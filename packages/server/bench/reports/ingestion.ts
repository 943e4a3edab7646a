/**
 * What do reports cost ingestion? Sends single events at half the rate that the server can take while reports are asked, one after the
 * other. Measures the latency with the reports and without, in turns. Each report reads the events that came since the one before.
 */
import { serverToken } from '../account.ts';
import { firstUserOf, openHistory } from '../history.ts';
import type { LoadResult } from '../processes/load.ts';
import { startLoad } from '../processes/loads.ts';
import { meanwhile } from '../processes/meanwhile.ts';
import { startServer } from '../processes/servers.ts';
import type { Options, Row } from '../question.ts';
import { onCopy } from '../remembered.ts';
import { median, ratio, whole } from '../table.ts';

/** The server has a history of its own; a longer one makes each report longer, not more. */
const maxEvents = 1_000_000;
const connections = 64;
/** Each of the reports once (processes/asker.ts). */
const firstReports = 6;

const what = 'ingestion while reports are asked, beside none';

export const measureIngestion = async ({ quick, events }: Options): Promise<Row[]> => {
  const history = await openHistory(quick ? Math.min(events, 200_000) : Math.min(events, maxEvents));
  return onCopy(history, async (path) => {
    const server = await startServer('reporting', path);
    const load = await startLoad();
    const milliseconds = quick ? 1_000 : 5_000;
    const { port } = server;
    const firstUser = firstUserOf(history);
    const send = (requestsPerSecond?: number): Promise<LoadResult> => {
      const paced = requestsPerSecond === undefined ? {} : { requestsPerSecond };
      return load.run({
        port,
        token: serverToken,
        connections,
        request: { events: 1 },
        firstUser,
        milliseconds,
        ...paced,
      });
    };
    const whileReporting = (work: () => Promise<LoadResult>) =>
      meanwhile('asker', [port, history.about.from], work, { first: firstReports });
    try {
      const peakRate = await send();
      const { value: most } = await whileReporting(() => send());
      const rate = Math.floor(most.eventsPerSecond / 2);
      const without: LoadResult[] = [];
      const within: LoadResult[] = [];
      const reports: number[] = [];
      for (let round = 0; round < (quick ? 1 : 3); round += 1) {
        without.push(await send(rate));
        const reported = await whileReporting(() => send(rate));
        within.push(reported.value);
        reports.push(reported.perSecond);
      }
      const row = (figure: string, name: 'eventsPerSecond' | 'p50' | 'p99', digits: number, bar: string): Row => {
        const of = (results: readonly LoadResult[]) => median(results.map((one) => one[name]));
        return {
          measured: `${what}: ${figure}`,
          floor: of(without).toFixed(digits),
          ours: of(within).toFixed(digits),
          ratio: ratio(of(within), of(without)),
          bar,
        };
      };
      return [
        {
          measured: `${what}: most single events/s`,
          floor: whole(peakRate.eventsPerSecond),
          ours: whole(most.eventsPerSecond),
          ratio: ratio(most.eventsPerSecond, peakRate.eventsPerSecond),
          bar: '',
        },
        row('single events/s, sent at half of that', 'eventsPerSecond', 0, ''),
        row('p50 ms', 'p50', 2, ''),
        row('p99 ms', 'p99', 2, '≤ 1.5 ×'),
        {
          measured: `reports/s meanwhile, over ${whole(history.about.events)} events`,
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
