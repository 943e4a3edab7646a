/**
 * Measures how much memory the server uses, and whether it grows: resident memory (proc(5)) of the built `firsthand
 * serve`, over a month of history, while single events and batches arrive alternately.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { serverToken } from '../account.ts';
import type { Options, Row } from '../benchmark.ts';
import { withCopy } from '../cached-database.ts';
import { getFirstUser, openHistory } from '../history.ts';
import { shapes, startLoad } from '../processes/loads.ts';
import { residentBytes } from '../processes/process.ts';
import { startService } from '../processes/service.ts';
import { duration, median, ratio, table, whole } from '../table.ts';

const samples = 20;
export const run = async ({ events, minutes }: Options): Promise<Row[]> => {
  const history = await openHistory(events);
  const firstUser = getFirstUser(history);
  return withCopy(history, async (path) => {
    const server = await startService('from the build', path);
    const load = await startLoad();
    const mebibytes: number[] = [];
    try {
      const sampleMilliseconds = (minutes * 60_000) / samples;
      for (let sample = 0; sample < samples; sample += 1) {
        const { events, connections } = shapes[sample % shapes.length] as (typeof shapes)[number];
        const { port } = server;
        await load.run({
          ...{ port, token: serverToken, connections, request: { events }, firstUser },
          milliseconds: sampleMilliseconds,
        });
        mebibytes.push((residentBytes(server.pid) ?? Number.NaN) / 1024 ** 2);
      }
      await wait(1_000);
    } finally {
      load.stop();
      await server.kill();
    }
    console.log(
      `${table(['MiB after each twentieth', ...mebibytes.map((_, nth) => String(nth + 1))], [['', ...mebibytes.map(whole)]])}\n`,
    );
    const [early, late] = [mebibytes.slice(5, 10), mebibytes.slice(-5)].map(median) as [number, number];
    return [
      {
        measured: `peak memory within ${duration(minutes)} of load: MiB`,
        ours: whole(Math.max(...mebibytes)),
        bar: '< 250',
      },
      {
        measured: `memory in the last vs. the second quarter of ${duration(minutes)}: MiB`,
        floor: whole(early),
        ours: whole(late),
        ratio: ratio(late, early),
        bar: 'flat',
      },
    ];
  });
};
