/**
 * Measures the cost of a scrape of /metrics with a long history: the latency of a scrape after each event, compared
 * with /healthz, which collects nothing; and the CPU time of many consecutive scrapes.
 */
import { serverToken } from '../account.ts';
import type { Options, Row } from '../benchmark.ts';
import { withCopy } from '../cached-database.ts';
import { openHistory } from '../history.ts';
import { createLatencies } from '../latencies.ts';
import { startService } from '../processes/service.ts';

const token = 'a-token-of-a-benchmark';

const parseCPUSeconds = (metrics: string): number => Number(/^process_cpu_seconds_total (\S+)$/m.exec(metrics)?.[1]);

export const run = async ({ quick, events }: Options): Promise<Row[]> => {
  const scrapes = quick ? 50 : 200;
  const history = await openHistory(events);
  return withCopy(history, async (path) => {
    const service = await startService('from the build', path, { METRICS_TOKEN: token });
    const request = async (where: string, init: RequestInit = {}): Promise<string> => {
      const response = await fetch(`http://127.0.0.1:${service.port}${where}`, init);
      const text = await response.text();
      if (!response.ok) throw new Error(`${where}: ${text}`);
      return text;
    };
    const scrape = () => request('/metrics', { headers: { Authorization: `Bearer ${token}` } });
    const measureTime = async (work: () => Promise<string>): Promise<number> => {
      const startTime = performance.now();
      await work();
      return performance.now() - startTime;
    };
    try {
      const [ours, floor] = [createLatencies(), createLatencies()];
      for (let nth = 0; nth < scrapes; nth += 1) {
        const body = JSON.stringify({ tokenUUID: serverToken, userUUID: `a-browser-of-scrape-${nth}`, eventID: 1 });
        await request('/logEvent', { method: 'POST', body });
        floor.record(await measureTime(() => request('/healthz')));
        ours.record(await measureTime(scrape));
      }
      const before = parseCPUSeconds(await scrape());
      for (let nth = 1; nth < scrapes; nth += 1) await scrape();
      const seconds = parseCPUSeconds(await scrape()) - before;
      return [
        ...([0.5, 0.99] as const).map((share) => ({
          measured: `a scrape vs. /healthz: p${share * 100} ms`,
          floor: floor.quantile(share).toFixed(1),
          ours: ours.quantile(share).toFixed(1),
          bar: '< 5',
        })),
        { measured: 'server CPU ms per scrape', ours: ((seconds * 1_000) / scrapes).toFixed(2), bar: '' },
      ];
    } finally {
      await service.kill();
    }
  });
};
