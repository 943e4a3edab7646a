/** Measures how fast documentation pages paint: the first paint in Chromium with an empty cache, on this machine. */
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { firstPaint } from '../../test/fixtures/in-page.js';
import type { Options, Row } from '../benchmark.ts';
import { createLatencies } from '../latencies.ts';
import { startService } from '../processes/service.ts';

/** The home page, a guide, the longest page of the manual, and two pages of the reference. */
const paths = ['', 'identify', 'operations', 'reference/logEvent', 'reference/errors'];

export const run = async ({ quick }: Options): Promise<Row[]> => {
  const rounds = quick ? 5 : 20;
  const service = await startService('from the build', ':memory:');
  const browser = await launchChromium().catch(async (error) => {
    await service.kill();
    throw error;
  });
  const measurePaint = async (path: string): Promise<number> => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${service.port}/docs/${path}`);
    const milliseconds = Number(await page.evaluate(firstPaint));
    await context.close();
    return milliseconds;
  };
  try {
    const times = paths.map((path) => ({ path, latencies: createLatencies() }));
    // The first round is a warm-up: the server compresses a page on its first request.
    for (let round = 0; round <= rounds; round += 1)
      for (const { path, latencies } of times) {
        const milliseconds = await measurePaint(path);
        if (round > 0) latencies.record(milliseconds);
      }
    return times.map(({ path, latencies }) => ({
      measured: `first paint of /docs/${path}, phone width: median ms`,
      ours: latencies.quantile(0.5).toFixed(0),
      bar: '< 1,000',
    }));
  } finally {
    await browser.close();
    await service.kill();
  }
};
