/**
 * What does the same cost on a Citus cluster? Compares one PostgreSQL with a coordinator and two workers, on the same cores and with the
 * same programs, in turns: singles and batches over one account and over many, contacts, links, and pages.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createBenchmarkAccount, findAsker, openBenchmark, serverTokenOf } from '../account.ts';
import { createFlight, keepAll, newContact } from '../filling.ts';
import type { Load, LoadResult } from '../processes/load.ts';
import { startLoad } from '../processes/loads.ts';
import { withCluster } from '../processes/own-cluster.ts';
import { type OwnPostgres, withPostgres } from '../processes/own-postgres.ts';
import { type Running, startServer } from '../processes/servers.ts';
import type { Options, Row } from '../question.ts';
import { median, ratio, whole } from '../table.ts';
import { createVisits, eventIDCount, userName } from '../visits.ts';

interface Side {
  readonly postgres: OwnPostgres;
  readonly server: Running;
  readonly databaseURL: string;
}
type Sides = readonly [plain: Side, cluster: Side];

const accountsOf = ({ quick }: Options) => (quick ? 100 : 1_000);

/** Each account has begun its day, and has the names that the loads use: else the slower side would do that while it is measured. */
const eventsBefore = 100;

const openSide = async (postgres: OwnPostgres, options: Options): Promise<Side> => {
  const databaseURL = await postgres.createDatabase('ours');
  const { store } = await openBenchmark(databaseURL);
  const flight = createFlight();
  for (let nth = 0; nth < accountsOf(options); nth += 1) {
    await flight.add(async () => {
      // The first is there.
      if (nth > 0) await createBenchmarkAccount(store, Date.now(), nth);
      const next = createVisits(eventsBefore);
      const events = Array.from({ length: eventsBefore }, (_, at) => {
        const { event } = next(Date.now());
        return at < eventIDCount ? { ...event, eventID: at + 1 } : event;
      });
      await keepAll(store, await findAsker(store, nth), Date.now(), events);
    });
  }
  await flight.end();
  await store.close();
  return { postgres, server: await startServer('durable', databaseURL), databaseURL };
};

/** One figure of each side in each round. */
const compare = async (
  rounds: number,
  sides: Sides,
  measure: (side: Side) => Promise<number[]>,
): Promise<number[][][]> => {
  const figures: number[][][] = sides.map(() => []);
  // The first round is not counted: caches fill, and connections open.
  for (let round = -1; round < rounds; round += 1) {
    for (const [nth, side] of sides.entries()) {
      const measured = await measure(side);
      if (round >= 0) figures[nth]?.push(measured);
    }
  }
  return figures;
};

/** A row of the medians of both sides. */
const rowOf = (
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

const short = (figure: number) => (figure >= 100 ? whole(figure) : figure.toFixed(2));

type Shape = Pick<Load, 'connections' | 'request'> & { readonly what: string; readonly bar: string };
/** The first makes the users: those of single events are known. */
const shapes: readonly Shape[] = [
  { what: 'batches of 100', connections: 16, request: { events: 100 }, bar: '≥ 0.5' },
  { what: 'single events', connections: 64, request: { events: 1 }, bar: '' },
  { what: 'single events, 512 at once', connections: 512, request: { events: 1 }, bar: '' },
  { what: 'createContact', connections: 16, request: 'contact', bar: '' },
];

const measureLoads = async (sides: Sides, options: Options): Promise<Row[]> => {
  const { quick } = options;
  const rows: Row[] = [];
  const load = await startLoad();
  try {
    for (const count of [1, accountsOf(options)]) {
      const token = Array.from({ length: count }, (_, nth) => serverTokenOf(nth));
      for (const { what, connections, request, bar } of shapes) {
        const figures = await compare(quick ? 1 : 5, sides, async ({ postgres, server }) => {
          const before = postgres.cpuSeconds();
          const result: LoadResult = await load.run({
            port: server.port,
            token,
            connections,
            request,
            milliseconds: quick ? 2_000 : 5_000,
          });
          const made = request === 'contact' ? result.requestsPerSecond * (quick ? 2 : 5) : result.events;
          const perSecond = request === 'contact' ? result.requestsPerSecond : result.eventsPerSecond;
          return [perSecond, ((postgres.cpuSeconds() - before) * 1e6) / made, result.p99];
        });
        const measured = `${what}, ${count === 1 ? 'one account' : `${whole(count)} accounts`}`;
        rows.push(
          rowOf(figures, 0, { measured: `${measured}: per second`, bar }),
          rowOf(
            figures,
            1,
            { measured: `${measured}: CPU µs of PostgreSQL for each`, bar: request === 'contact' ? '' : '≤ 2.5' },
            short,
          ),
          rowOf(figures, 2, { measured: `${measured}: p99 ms`, bar: '' }, short),
        );
      }
    }
  } finally {
    load.stop();
  }
  return rows;
};

/** What the server asks and PostgreSQL does by itself, which is part of all other figures. */
const measureIdle = async (sides: Sides, { quick }: Options): Promise<Row[]> => {
  const seconds = quick ? 2 : 10;
  const figures = await compare(1, sides, async ({ postgres }) => {
    const before = postgres.cpuSeconds();
    await wait(seconds * 1_000);
    return [((postgres.cpuSeconds() - before) * 1_000) / seconds];
  });
  return [rowOf(figures, 0, { measured: 'nothing to do: CPU ms of PostgreSQL a second', bar: '' }, short)];
};

const pageEvents = 1_000;

/** Through the store, one call after the other. */
const measureCalls = async (sides: Sides, { quick }: Options): Promise<Row[]> => {
  const calls = quick ? 30 : 200;
  const opened = await Promise.all(
    sides.map(async (side) => {
      const { store, asker } = await openBenchmark(side.databaseURL);
      const time = Date.now();
      const contacts = [
        await store.createContact(newContact(asker, 0, time)),
        await store.createContact(newContact(asker, 1, time)),
      ];
      const next = createVisits(pageEvents);
      const events = Array.from({ length: pageEvents }, () => ({ ...next(time).event, userUUID: userName(0) }));
      await keepAll(store, asker, time, events);
      const keepOne = (userUUID: string) => {
        const now = Date.now();
        return keepAll(store, asker, now, [{ ...next(now).event, userUUID }]);
      };
      return { store, asker, keepOne, contacts: contacts.map(({ contactUUID }) => contactUUID) };
    }),
  );
  const works: { what: string; bar: string; work: (nth: number, side: number) => Promise<unknown> }[] = [
    {
      what: 'newest 50 of a contact',
      bar: '≤ 2',
      work: (_, side) => {
        const { store, asker, contacts } = opened[side] as (typeof opened)[number];
        return store.getEvents({
          account: asker.account,
          order: 'desc',
          limit: 50,
          contactUUID: contacts[0] as string,
        });
      },
    },
    {
      what: 'linking a user',
      bar: '',
      work: (nth, side) => {
        const { store, asker, contacts } = opened[side] as (typeof opened)[number];
        const { account, token } = asker;
        const contactUUID = contacts[nth % 2] as string;
        return store.linkUser({ account, token, userUUID: userName(2), contactUUID, time: Date.now() });
      },
    },
    // Each in a commit of its own.
    {
      what: 'an event of a known user, alone',
      bar: '',
      work: (_, side) => (opened[side] as (typeof opened)[number]).keepOne(userName(0)),
    },
    {
      what: 'an event of a new user, alone',
      bar: '',
      work: (_, side) => (opened[side] as (typeof opened)[number]).keepOne(`alone_${crypto.randomUUID()}`),
    },
  ];
  const rows: Row[] = [];
  for (const { what, bar, work } of works) {
    const figures = await compare(quick ? 1 : 5, sides, async (side) => {
      const at = sides.indexOf(side);
      const before = side.postgres.cpuSeconds();
      const times: number[] = [];
      for (let nth = 0; nth < calls; nth += 1) {
        const began = performance.now();
        await work(nth, at);
        times.push(performance.now() - began);
      }
      return [median(times), ((side.postgres.cpuSeconds() - before) * 1e6) / calls];
    });
    rows.push(
      rowOf(figures, 0, { measured: `${what}: median ms`, bar }, short),
      rowOf(figures, 1, { measured: `${what}: CPU µs of PostgreSQL`, bar: '' }, short),
    );
  }
  for (const { store } of opened) await store.close();
  return rows;
};

export const run = (options: Options): Promise<Row[]> => {
  const bin = process.env.CITUS_BIN;
  if (!bin) throw new Error('CITUS_BIN must name the folder of a PostgreSQL with Citus: test/citus/README.md');
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
