/**
 * How long is the service down after a crash? Times from the start of the process to the first 200, after kill -9: of the build and of the
 * sources, beside a process that only listens; and over a month of history, killed while events arrive.
 */
import { serverToken } from '../account.ts';
import { openHistory } from '../history.ts';
import { startLoad } from '../processes/loads.ts';
import { type CommandName, commands, startServing } from '../processes/serving.ts';
import type { Options, Row } from '../question.ts';
import { inFolder, onCopy } from '../remembered.ts';
import { median, ratio, whole } from '../table.ts';

const names = Object.keys(commands) as CommandName[];

/** Milliseconds until each command was ready, with an empty database. */
const startAgain = (rounds: number) =>
  inFolder(async (folder) => {
    const times = new Map(names.map((name) => [name, [] as number[]]));
    // The first round creates the database.
    for (let round = 0; round <= rounds; round += 1) {
      for (const name of names) {
        const served = await startServing(name, `${folder}/firsthand.db`);
        if (round > 0) times.get(name)?.push(served.readyMilliseconds);
        await served.kill();
      }
    }
    return times;
  });

/** The same after a kill while events arrived. */
const startAfterLoad = async ({ quick, events }: Options): Promise<number[]> => {
  const history = await openHistory(events);
  return onCopy(history, async (path) => {
    const times: number[] = [];
    const load = await startLoad();
    try {
      for (let round = 0; round <= (quick ? 1 : 5); round += 1) {
        const served = await startServing('as it was built', path);
        if (round > 0) times.push(served.readyMilliseconds);
        const { port } = served;
        const request = { events: 1 };
        const sending = load.run({ port, token: serverToken, connections: 64, request, milliseconds: 2_000 });
        await new Promise((resolve) => setTimeout(resolve, 1_800));
        await served.kill();
        await sending;
      }
    } finally {
      load.stop();
    }
    return times;
  });
};

export const run = async (options: Options): Promise<Row[]> => {
  const times = await startAgain(options.quick ? 2 : 8);
  const [floor, ...ours] = names.map((name) => ({ name, all: times.get(name) as number[] }));
  const alone = median(floor?.all as number[]);
  const row = (what: string, all: readonly number[], bar: string): Row => ({
    measured: `ready again ${what}, beside node:http alone: median (longest) ms`,
    floor: whole(alone),
    ours: `${whole(median(all))} (${whole(Math.max(...all))})`,
    ratio: ratio(median(all), alone),
    bar,
  });
  return [
    ...ours.map(({ name, all }) => row(name, all, '')),
    row('over the history, killed under load', await startAfterLoad(options), '< 1,000'),
  ];
};
