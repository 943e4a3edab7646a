/**
 * What do several processes that answer gain, and what do they cost? `firsthand serve` with WORKERS=1 beside WORKERS=2, over a month
 * of history, in turn. On a machine of two processors the load takes one of them: there the figure to look at is what an event
 * costs of a processor, in all processes together.
 */
import { availableParallelism } from 'node:os';
import { serverToken } from './account.ts';
import { firstUserOf, openHistory } from './history.ts';
import type { LoadResult } from './load.ts';
import { shapes, startLoad } from './loads.ts';
import { childrenOf, cpuSeconds } from './process.ts';
import type { Options, Row } from './question.ts';
import { onCopy } from './remembered.ts';
import { type Served, startServing } from './serving.ts';
import { settle } from './settling.ts';
import { median, ratio, whole } from './table.ts';

interface Result extends LoadResult {
  /** That all processes of the server took for an event. */
  readonly cpuMicroseconds: number;
}

const cpuOfAll = ({ pid }: Served): number =>
  [pid, ...childrenOf(pid)].reduce((sum, process) => sum + (cpuSeconds(process) ?? Number.NaN), 0);

const of = (results: readonly Result[], name: 'eventsPerSecond' | 'p99' | 'cpuMicroseconds') =>
  median(results.map((result) => result[name]));

export const run = async (options: Options): Promise<Row[]> => {
  const { quick } = options;
  const milliseconds = quick ? 700 : 3_000;
  const rounds = quick ? 1 : 5;
  const counts = [1, 2];
  const history = await openHistory(options.events);
  const firstUser = firstUserOf(history);
  return onCopy(history, async (onePath) =>
    onCopy(history, async (otherPath) => {
      const load = await startLoad();
      const servers: Served[] = [];
      const ask = async (server: Served, { events, connections }: (typeof shapes)[number], forMs: number) => {
        const before = cpuOfAll(server);
        const request = { events };
        const { port, pid } = server;
        const result = await load.run({
          port,
          token: serverToken,
          connections,
          request,
          firstUser,
          milliseconds: forMs,
        });
        await settle(pid);
        return { ...result, cpuMicroseconds: ((cpuOfAll(server) - before) * 1e6) / result.events };
      };
      try {
        for (const [index, path] of [onePath, otherPath].entries()) {
          servers.push(await startServing('as it was built', path, { WORKERS: String(counts[index]) }));
        }
        const rows: Row[] = [];
        for (const shape of shapes) {
          const results: Result[][] = [[], []];
          for (const server of servers) await ask(server, shape, milliseconds / 3);
          for (let round = 0; round < rounds; round += 1) {
            for (const [index, server] of servers.entries()) {
              (results[index] as Result[]).push(await ask(server, shape, milliseconds));
            }
          }
          const [one, two] = results as [Result[], Result[]];
          const what = `${shape.events} a request, ${shape.connections} connections, 2 workers beside 1`;
          const row = (
            measured: string,
            name: Parameters<typeof of>[1],
            bar: string,
            form: (figure: number) => string,
          ) =>
            rows.push({
              measured: `${what}: ${measured}`,
              floor: form(of(one, name)),
              ours: form(of(two, name)),
              ratio: ratio(of(two, name), of(one, name)),
              bar,
            });
          row('events/s', 'eventsPerSecond', '≥ 1', whole);
          row('p99 ms', 'p99', '', (figure) => figure.toFixed(1));
          row('CPU µs of the server for an event', 'cpuMicroseconds', '', (figure) => figure.toFixed(1));
        }
        rows.push({ measured: 'processors here', ours: String(availableParallelism()), bar: '' });
        return rows;
      } finally {
        load.stop();
        for (const server of servers) await server.kill();
      }
    }),
  );
};
