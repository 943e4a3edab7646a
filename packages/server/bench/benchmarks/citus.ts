/**
 * Alternately compares one PostgreSQL server with a Citus cluster of a coordinator and two workers, on the same cores
 * with the same programs: single events and batches for one account and for many, contacts, links, and pages.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createBenchmarkAccount, findCaller, openBenchmark, toServerToken } from '../account.ts';
import type { Options, Row } from '../benchmark.ts';
import { createLimiter, newContact, storeAll } from '../fill-store.ts';
import type { Load, LoadResult } from '../processes/load.ts';
import { startLoad } from '../processes/loads.ts';
import { withCluster } from '../processes/own-cluster.ts';
import { type OwnPostgres, withPostgres } from '../processes/own-postgres.ts';
import { type RunningServer, startServer } from '../processes/servers.ts';
import { median, ratio, whole } from '../table.ts';
import { createVisits, eventIDCount, userName } from '../visits.ts';

interface Side {
  readonly postgres: OwnPostgres;
  readonly server: RunningServer;
  readonly databaseURL: string;
}
type Sides = readonly [plain: Side, cluster: Side];

const countAccounts = ({ quick }: Options) => (quick ? 100 : 1_000);

/** Events stored in advance, so that setup work for the day and for event names is not measured. */
const initialEvents = 100;

const openSide = async (postgres: OwnPostgres, options: Options): Promise<Side> => {
  const databaseURL = await postgres.createDatabase('ours');
  const { store } = await openBenchmark(databaseURL);
  const limiter = createLimiter();
  for (let nth = 0; nth < countAccounts(options); nth += 1) {
    await limiter.add(async () => {
      // The first account already exists.
      if (nth > 0) await createBenchmarkAccount(store, Date.now(), nth);
      const next = createVisits(initialEvents);
      const events = Array.from({ length: initialEvents }, (_, at) => {
        const { event } = next(Date.now());
        return at < eventIDCount ? { ...event, eventID: at + 1 } : event;
      });
      await storeAll(store, await findCaller(store, nth), Date.now(), events);
    });
  }
  await limiter.end();
  await store.close();
  return { postgres, server: await startServer('durable', databaseURL), databaseURL };
};

/** Measures both sides in each round. Returns the figures by side and round. */
const compare = async (
  rounds: number,
  sides: Sides,
  measure: (side: Side) => Promise<number[]>,
): Promise<number[][][]> => {
  const figures: number[][][] = sides.map(() => []);
  // The first round is a warm-up.
  for (let round = -1; round < rounds; round += 1) {
    for (const [nth, side] of sides.entries()) {
      const measured = await measure(side);
      if (round >= 0) figures[nth]?.push(measured);
    }
  }
  return figures;
};

/** Creates a row with the medians of both sides. */
const createRow = (
  figures: readonly number[][][],
  at: number,
  texts: Pick<Row, 'measured' | 'bar'>,
  toText = whole,
): Row => {
  const [floor = Number.NaN, ours = Number.NaN] = figures.map((rounds) =>
    median(rounds.map((figure) => figure[at] as number)),
  );
  return { ...texts, floor: toText(floor), ours: toText(ours), ratio: ratio(ours, floor) };
};

const formatShort = (figure: number) => (figure >= 100 ? whole(figure) : figure.toFixed(2));

type Shape = Pick<Load, 'connections' | 'request'> & { readonly title: string; readonly bar: string };
/** The first shape creates the users that the other shapes need. */
const shapes: readonly Shape[] = [
  { title: 'batches of 100', connections: 16, request: { events: 100 }, bar: '≥ 0.5' },
  { title: 'single events', connections: 64, request: { events: 1 }, bar: '' },
  { title: 'single events, 512 concurrent', connections: 512, request: { events: 1 }, bar: '' },
  { title: 'createContact', connections: 16, request: 'contact', bar: '' },
];

const measureLoads = async (sides: Sides, options: Options): Promise<Row[]> => {
  const { quick } = options;
  const rows: Row[] = [];
  const load = await startLoad();
  try {
    for (const count of [1, countAccounts(options)]) {
      const token = Array.from({ length: count }, (_, nth) => toServerToken(nth));
      for (const { title, connections, request, bar } of shapes) {
        const figures = await compare(quick ? 1 : 5, sides, async ({ postgres, server }) => {
          const before = postgres.cpuSeconds();
          const result: LoadResult = await load.run({
            port: server.port,
            token,
            connections,
            request,
            milliseconds: quick ? 2_000 : 5_000,
          });
          const count = request === 'contact' ? result.requestsPerSecond * (quick ? 2 : 5) : result.events;
          const perSecond = request === 'contact' ? result.requestsPerSecond : result.eventsPerSecond;
          return [perSecond, ((postgres.cpuSeconds() - before) * 1e6) / count, result.p99];
        });
        const measured = `${title}, ${count === 1 ? 'one account' : `${whole(count)} accounts`}`;
        rows.push(
          createRow(figures, 0, { measured: `${measured}: per second`, bar }),
          createRow(
            figures,
            1,
            { measured: `${measured}: PostgreSQL CPU µs each`, bar: request === 'contact' ? '' : '≤ 2.5' },
            formatShort,
          ),
          createRow(figures, 2, { measured: `${measured}: p99 ms`, bar: '' }, formatShort),
        );
      }
    }
  } finally {
    load.stop();
  }
  return rows;
};

/** Measures the background work of the server and PostgreSQL, which all other figures include. */
const measureIdle = async (sides: Sides, { quick }: Options): Promise<Row[]> => {
  const seconds = quick ? 2 : 10;
  const figures = await compare(1, sides, async ({ postgres }) => {
    const before = postgres.cpuSeconds();
    await wait(seconds * 1_000);
    return [((postgres.cpuSeconds() - before) * 1_000) / seconds];
  });
  return [createRow(figures, 0, { measured: 'idle: PostgreSQL CPU ms per second', bar: '' }, formatShort)];
};

const pageEvents = 1_000;

/** Measures sequential calls to the store. */
const measureCalls = async (sides: Sides, { quick }: Options): Promise<Row[]> => {
  const calls = quick ? 30 : 200;
  const opened = await Promise.all(
    sides.map(async (side) => {
      const { store, caller } = await openBenchmark(side.databaseURL);
      const time = Date.now();
      const contacts = [
        await store.createContact(newContact(caller, 0, time)),
        await store.createContact(newContact(caller, 1, time)),
      ];
      const next = createVisits(pageEvents);
      const events = Array.from({ length: pageEvents }, () => ({ ...next(time).event, userUUID: userName(0) }));
      await storeAll(store, caller, time, events);
      const storeOne = (userUUID: string) => {
        const now = Date.now();
        return storeAll(store, caller, now, [{ ...next(now).event, userUUID }]);
      };
      return { store, caller, storeOne, contacts: contacts.map(({ contactUUID }) => contactUUID) };
    }),
  );
  const works: { title: string; bar: string; work: (nth: number, side: number) => Promise<unknown> }[] = [
    {
      title: 'a contact’s newest 50',
      bar: '≤ 2',
      work: (_, side) => {
        const { store, caller, contacts } = opened[side] as (typeof opened)[number];
        return store.getEvents({
          account: caller.account,
          order: 'desc',
          limit: 50,
          contactUUID: contacts[0] as string,
        });
      },
    },
    {
      title: 'linking a user',
      bar: '',
      work: (nth, side) => {
        const { store, caller, contacts } = opened[side] as (typeof opened)[number];
        const { account, token } = caller;
        const contactUUID = contacts[nth % 2] as string;
        return store.linkUser({ account, token, userUUID: userName(2), contactUUID, time: Date.now() });
      },
    },
    // Each event is stored in a separate commit.
    {
      title: 'one event from an existing user',
      bar: '',
      work: (_, side) => (opened[side] as (typeof opened)[number]).storeOne(userName(0)),
    },
    {
      title: 'one event from a new user',
      bar: '',
      work: (_, side) => (opened[side] as (typeof opened)[number]).storeOne(`alone_${crypto.randomUUID()}`),
    },
  ];
  const rows: Row[] = [];
  for (const { title, bar, work } of works) {
    const figures = await compare(quick ? 1 : 5, sides, async (side) => {
      const at = sides.indexOf(side);
      const before = side.postgres.cpuSeconds();
      const times: number[] = [];
      for (let nth = 0; nth < calls; nth += 1) {
        const startTime = performance.now();
        await work(nth, at);
        times.push(performance.now() - startTime);
      }
      return [median(times), ((side.postgres.cpuSeconds() - before) * 1e6) / calls];
    });
    rows.push(
      createRow(figures, 0, { measured: `${title}: median ms`, bar }, formatShort),
      createRow(figures, 1, { measured: `${title}: PostgreSQL CPU µs`, bar: '' }, formatShort),
    );
  }
  for (const { store } of opened) await store.close();
  return rows;
};

export const run = (options: Options): Promise<Row[]> => {
  const bin = process.env.CITUS_BIN;
  if (!bin) throw new Error('set CITUS_BIN to the program folder of a PostgreSQL with Citus: test/citus/README.md');
  return withPostgres(
    (plain) =>
      withCluster(async (cluster) => {
        const sides: Sides = [await openSide(plain, options), await openSide(cluster, options)];
        try {
          return [
            ...(await measureIdle(sides, options)),
            ...(await measureLoads(sides, options)),
            ...(await measureCalls(sides, options)),
          ];
        } finally {
          for (const { server } of sides) await server.stop();
        }
      }),
    { bin },
  );
};
