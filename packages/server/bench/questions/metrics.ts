/**
 * What does a scrape of /metrics cost? Over the history: each after an event, beside /healthz, which measures nothing; and the processor
 * time of many in a row.
 */
import { serverToken } from '../account.ts';
import { openHistory } from '../history.ts';
import { createLatencies } from '../latencies.ts';
import { startServing } from '../processes/serving.ts';
import type { Options, Row } from '../question.ts';
import { onCopy } from '../remembered.ts';

const token = 'a-token-of-a-benchmark';

const cpuSecondsIn = (metrics: string): number => Number(/^process_cpu_seconds_total (\S+)$/m.exec(metrics)?.[1]);

export const run = async ({ quick, events }: Options): Promise<Row[]> => {
  const scrapes = quick ? 50 : 200;
  const history = await openHistory(events);
  return onCopy(history, async (path) => {
    const served = await startServing('as it was built', path, { METRICS_TOKEN: token });
    const ask = async (where: string, init: RequestInit = {}): Promise<string> => {
      const response = await fetch(`http://127.0.0.1:${served.port}${where}`, init);
      const text = await response.text();
      if (!response.ok) throw new Error(`${where}: ${text}`);
      return text;
    };
    const scrape = () => ask('/metrics', { headers: { Authorization: `Bearer ${token}` } });
    const timed = async (work: () => Promise<string>): Promise<number> => {
      const began = performance.now();
      await work();
      return performance.now() - began;
    };
    try {
      const [ours, floor] = [createLatencies(), createLatencies()];
      for (let nth = 0; nth < scrapes; nth += 1) {
        const body = JSON.stringify({ tokenUUID: serverToken, userUUID: `a-browser-of-scrape-${nth}`, eventID: 1 });
        await ask('/logEvent', { method: 'POST', body });
        floor.record(await timed(() => ask('/healthz')));
        ours.record(await timed(scrape));
      }
      const before = cpuSecondsIn(await scrape());
      for (let nth = 1; nth < scrapes; nth += 1) await scrape();
      const seconds = cpuSecondsIn(await scrape()) - before;
      return [
        ...([0.5, 0.99] as const).map((share) => ({
          measured: `a scrape, beside /healthz: p${share * 100} ms`,
          floor: floor.quantile(share).toFixed(1),
          ours: ours.quantile(share).toFixed(1),
          bar: '< 5',
        })),
        { measured: 'CPU ms of the server for a scrape', ours: ((seconds * 1_000) / scrapes).toFixed(2), bar: '' },
      ];
    } finally {
      await served.kill();
    }
  });
};
