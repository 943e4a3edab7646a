/**
 * Profiles the durable server over a month of history while single events arrive over 64 connections. Lists the ten
 * functions with the most self time in the main thread and in the writer.
 */
import { serverToken } from '../account.ts';
import type { Options, Row } from '../benchmark.ts';
import { withCopy } from '../cached-database.ts';
import { getFirstUser, openHistory } from '../history.ts';
import { startLoad } from '../processes/loads.ts';
import type { Profile } from '../processes/profiler.ts';
import { startServer } from '../processes/servers.ts';

const topCount = 10;

type Frame = Profile['nodes'][number]['callFrame'];

/** The function's name and file. */
const toName = ({ functionName, url }: Frame): string =>
  `${functionName || '(anonymous)'} ${url.replace(/^file:.*\/(packages|node_modules)\//, '')}`.trim();

/** The names of all nodes. Native functions have no file, so their caller is added. */
const toNames = ({ nodes }: Profile): ReadonlyMap<number, string> => {
  const callers = new Map(nodes.flatMap(({ children = [], callFrame }) => children.map((id) => [id, callFrame])));
  return new Map(
    nodes.map(({ id, callFrame }) => {
      const caller = callers.get(id);
      const isNative = callFrame.url === '' && !callFrame.functionName.startsWith('(');
      return [id, isNative && caller ? `${callFrame.functionName}, called by ${toName(caller)}` : toName(callFrame)];
    }),
  );
};

/** Time that our code does not use: idle, other programs, the profiler. */
const isNotWork = (name: string) => /^\((idle|program|root)\)$|node:inspector/.test(name);

/** Self time of each function in microseconds, longest first. */
const selfTimes = (profile: Profile): [string, number][] => {
  const { samples, timeDeltas } = profile;
  const names = toNames(profile);
  const times = new Map<string, number>();
  samples.forEach((node, at) => {
    const name = names.get(node) as string;
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[at] as number));
  });
  return [...times].sort(([, a], [, b]) => b - a);
};

const createRows = (thread: string, profile: Profile): Row[] => {
  const times = selfTimes(profile);
  const sum = (some: typeof times) => some.reduce((total, [, time]) => total + time, 0);
  const working = times.filter(([name]) => !isNotWork(name));
  const share = (time: number, of: number) => `${((100 * time) / of).toFixed(1)} %`;
  return [
    { measured: `${thread}: busy, share of all time`, ours: share(sum(working), sum(times)), bar: '' },
    ...working
      .slice(0, topCount)
      .map(([name, time]) => ({ measured: `${thread}: ${name}`, ours: share(time, sum(working)), bar: '' })),
  ];
};

/** Threads run their built file, because it is newer than the sources (thread-start.cjs). */
const isWriter = ({ nodes }: Profile): boolean =>
  nodes.some(({ callFrame }) => callFrame.url.endsWith('/writer-thread.cjs'));

export const run = async ({ quick, events }: Options): Promise<Row[]> => {
  const history = await openHistory(events);
  const firstUser = getFirstUser(history);
  return withCopy(history, async (path) => {
    const server = await startServer('durable', path, 'sources');
    const load = await startLoad();
    try {
      const send = (milliseconds: number) =>
        load.run({
          ...{ port: server.port, token: serverToken, connections: 64, request: { events: 1 } },
          ...{ firstUser, milliseconds },
        });
      await send(quick ? 500 : 3_000);
      await server.send('profile');
      await send(quick ? 2_000 : 10_000);
      const [main, ...threads] = (await server.send('profiled')) as Profile[];
      const writer = threads.find(isWriter);
      return [...(main ? createRows('main', main) : []), ...(writer ? createRows('writer', writer) : [])];
    } finally {
      load.stop();
      await server.stop();
    }
  });
};
