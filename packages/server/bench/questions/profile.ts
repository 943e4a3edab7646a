/**
 * Where does the time go? Profiles the durable server over a month of history while single events arrive over 64 connections, and lists the
 * ten functions with the most self time of its main thread and of the writer.
 */
import { serverToken } from '../account.ts';
import { firstUserOf, openHistory } from '../history.ts';
import { startLoad } from '../processes/loads.ts';
import type { Profile } from '../processes/profiler.ts';
import { startServer } from '../processes/servers.ts';
import type { Options, Row } from '../question.ts';
import { onCopy } from '../remembered.ts';

const dearest = 10;

type Frame = Profile['nodes'][number]['callFrame'];

/** The function’s name with its file. */
const nameOf = ({ functionName, url }: Frame): string =>
  `${functionName || '(anonymous)'} ${url.replace(/^file:.*\/(packages|node_modules)\//, '')}`.trim();

/** The names of all nodes. A native function has no file and is named with its caller. */
const namesOf = ({ nodes }: Profile): ReadonlyMap<number, string> => {
  const callers = new Map(nodes.flatMap(({ children = [], callFrame }) => children.map((id) => [id, callFrame])));
  return new Map(
    nodes.map(({ id, callFrame }) => {
      const caller = callers.get(id);
      const isNative = callFrame.url === '' && !callFrame.functionName.startsWith('(');
      return [id, isNative && caller ? `${callFrame.functionName}, called by ${nameOf(caller)}` : nameOf(callFrame)];
    }),
  );
};

/** Entries that are not our work: idle time, other programs, the profiler. */
const isRest = (name: string) => /^\((idle|program|root)\)$|node:inspector/.test(name);

/** Self time of each function in microseconds, longest first. */
const selfTimes = (profile: Profile): [string, number][] => {
  const { samples, timeDeltas } = profile;
  const names = namesOf(profile);
  const times = new Map<string, number>();
  samples.forEach((node, at) => {
    const name = names.get(node) as string;
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[at] as number));
  });
  return [...times].sort(([, a], [, b]) => b - a);
};

const rowsOf = (thread: string, profile: Profile): Row[] => {
  const times = selfTimes(profile);
  const sum = (some: typeof times) => some.reduce((total, [, time]) => total + time, 0);
  const working = times.filter(([name]) => !isRest(name));
  const share = (time: number, of: number) => `${((100 * time) / of).toFixed(1)} %`;
  return [
    { measured: `${thread}: at work, of all the time`, ours: share(sum(working), sum(times)), bar: '' },
    ...working
      .slice(0, dearest)
      .map(([name, time]) => ({ measured: `${thread}: ${name}`, ours: share(time, sum(working)), bar: '' })),
  ];
};

/** A thread runs its built file if that is newer than the sources, as it is here: see thread-start.cjs. */
const isWriter = ({ nodes }: Profile): boolean =>
  nodes.some(({ callFrame }) => callFrame.url.endsWith('/writer-thread.cjs'));

export const run = async ({ quick, events }: Options): Promise<Row[]> => {
  const history = await openHistory(events);
  const firstUser = firstUserOf(history);
  return onCopy(history, async (path) => {
    const server = await startServer('durable', path, 'sources');
    const load = await startLoad();
    try {
      const ask = (milliseconds: number) =>
        load.run({
          ...{ port: server.port, token: serverToken, connections: 64, request: { events: 1 } },
          ...{ firstUser, milliseconds },
        });
      await ask(quick ? 500 : 3_000);
      await server.ask('profile');
      await ask(quick ? 2_000 : 10_000);
      const [main, ...threads] = (await server.ask('profiled')) as Profile[];
      const writer = threads.find(isWriter);
      return [...(main ? rowsOf('main', main) : []), ...(writer ? rowsOf('writer', writer) : [])];
    } finally {
      load.stop();
      await server.stop();
    }
  });
};
