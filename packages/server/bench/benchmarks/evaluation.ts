/** Measures how long the tracker's script takes to evaluate. Runs packages/tracker/bench/evaluate.ts in Chromium. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Row } from '../benchmark.ts';
import { ratio } from '../table.ts';

const script = fileURLToPath(new URL('../../../tracker/bench/evaluate.ts', import.meta.url));

export const run = async (): Promise<Row[]> => {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--import', 'tsx', script], { encoding: 'utf8' });
  if (status !== 0) {
    console.log(`${stderr.split('\n').find((line) => /error/i.test(line)) ?? stderr}\n`);
    return [{ measured: 'milliseconds to evaluate the script', ours: 'needs Chromium', bar: '< 2' }];
  }
  console.log(stdout);
  /**
   * A script's median. The script's line in the output has three pairs of median and 90th percentile; `pair` selects
   * one.
   */
  const readMedian = (name: string, pair: number): number => {
    const line = stdout.split('\n').find((each) => each.startsWith(`${name}  `)) ?? '';
    return Number(line.slice(name.length).trim().split(/\s+/)[2 * pair]);
  };
  return ['tracker.js', 'tracker.full.js'].flatMap((name) =>
    ['alone on a page', 'after other scripts'].map((where, pair) => ({
      measured: `evaluating ${name} ${where} vs. an empty script, CPU 4 × slower: median ms`,
      floor: readMedian('nothing', pair).toFixed(2),
      ours: readMedian(name, pair).toFixed(2),
      ratio: ratio(readMedian(name, pair), readMedian('nothing', pair)),
      bar: '< 2',
    })),
  );
};
