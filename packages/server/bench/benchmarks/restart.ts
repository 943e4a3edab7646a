/**
 * Measures how long the server is down after a crash (kill -9): the time from the start of the process to its first
 * response with status 200. Compares the built server and the sources with a process that only listens; also measures a
 * month of history under load.
 */
import { serverToken } from '../account.ts';
import type { Options, Row } from '../benchmark.ts';
import { inFolder, withCopy } from '../cached-database.ts';
import { openHistory } from '../history.ts';
import { startLoad } from '../processes/loads.ts';
import { type CommandName, commands, startService } from '../processes/service.ts';
import { median, ratio, whole } from '../table.ts';

const names = Object.keys(commands) as CommandName[];

/** Milliseconds until each command is ready, with an empty database. */
const measureRestarts = (rounds: number) =>
  inFolder(async (folder) => {
    const times = new Map(names.map((name) => [name, [] as number[]]));
    // The first round creates the database.
    for (let round = 0; round <= rounds; round += 1) {
      for (const name of names) {
        const service = await startService(name, `${folder}/firsthand.db`);
        if (round > 0) times.get(name)?.push(service.readyMilliseconds);
        await service.kill();
      }
    }
    return times;
  });

/** Milliseconds until the server is ready, with a history, after a kill under load. */
const measureRestartsUnderLoad = async ({ quick, events }: Options): Promise<number[]> => {
  const history = await openHistory(events);
  return withCopy(history, async (path) => {
    const times: number[] = [];
    const load = await startLoad();
    try {
      for (let round = 0; round <= (quick ? 1 : 5); round += 1) {
        const service = await startService('from the build', path);
        if (round > 0) times.push(service.readyMilliseconds);
        const { port } = service;
        const request = { events: 1 };
        const sending = load.run({ port, token: serverToken, connections: 64, request, milliseconds: 2_000 });
        await new Promise((resolve) => setTimeout(resolve, 1_800));
        await service.kill();
        await sending;
      }
    } finally {
      load.stop();
    }
    return times;
  });
};

export const run = async (options: Options): Promise<Row[]> => {
  const times = await measureRestarts(options.quick ? 2 : 8);
  const [floor, ...ours] = names.map((name) => ({ name, all: times.get(name) as number[] }));
  const bare = median(floor?.all as number[]);
  const row = (title: string, all: readonly number[], bar: string): Row => ({
    measured: `ready again ${title} vs. bare node:http: median (longest) ms`,
    floor: whole(bare),
    ours: `${whole(median(all))} (${whole(Math.max(...all))})`,
    ratio: ratio(median(all), bare),
    bar,
  });
  return [
    ...ours.map(({ name, all }) => row(name, all, '')),
    row('with the history, killed under load,', await measureRestartsUnderLoad(options), '< 1,000'),
  ];
};
