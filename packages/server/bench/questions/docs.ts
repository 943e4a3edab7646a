/** How soon does a page of the documentation show something? First paints in Chromium, each with an empty cache, on this machine. */
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { firstPaint } from '../../test/fixtures/in-page.js';
import { createLatencies } from '../latencies.ts';
import { startServing } from '../processes/serving.ts';
import type { Options, Row } from '../question.ts';

/** The front page, a guide, the longest page of the manual, and two of the reference. */
const paths = ['', 'identify', 'operations', 'reference/logEvent', 'reference/errors'];

export const run = async ({ quick }: Options): Promise<Row[]> => {
  const rounds = quick ? 5 : 20;
  const served = await startServing('as it was built', ':memory:');
  const browser = await launchChromium().catch(async (error) => {
    await served.kill();
    throw error;
  });
  const timeOf = async (path: string): Promise<number> => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${served.port}/docs/${path}`);
    const milliseconds = Number(await page.evaluate(firstPaint));
    await context.close();
    return milliseconds;
  };
  try {
    const times = paths.map((path) => ({ path, latencies: createLatencies() }));
    // Once before: the server compresses a page at its first request.
    for (let round = 0; round <= rounds; round += 1)
      for (const { path, latencies } of times) {
        const milliseconds = await timeOf(path);
        if (round > 0) latencies.record(milliseconds);
      }
    return times.map(({ path, latencies }) => ({
      measured: `first paint of /docs/${path}, phone's width: median ms`,
      ours: latencies.quantile(0.5).toFixed(0),
      bar: '< 1,000',
    }));
  } finally {
    await browser.close();
    await served.kill();
  }
};
