/**
 * Measures how long counting takes. Times the Store's countEvents for an eventID with 5 % of all events: a month by
 * day, and the distinct users. The floor is a round trip that reads nothing.
 */
import type { CountQuery } from '../../src/store/store.ts';
import { openBenchmark } from '../account.ts';
import type { Options, Row } from '../benchmark.ts';
import { historyDays, openHistory } from '../history.ts';
import { whole } from '../table.ts';
import { timeEach } from '../timing.ts';
import { countedEventID } from '../visits.ts';

const day = 86_400_000;

export const run = async ({ quick, events }: Options): Promise<Row[]> => {
  const { path, about } = await openHistory(events);
  const { store, caller } = await openBenchmark(path);
  try {
    const times = Array.from({ length: quick ? 3 : 9 });
    const firstDay = Math.floor(about.from / day);
    const days = Array.from({ length: historyDays + 2 }, (_, nth) => (firstDay + nth) * day);
    const month = [days[0] as number, days.at(-1) as number];
    const floor = await timeEach(times, () => store.check());
    const measure = async (title: string, bar: string, query: Omit<CountQuery, 'account'>): Promise<Row> => {
      let total = 0;
      const ours = await timeEach(times, async () => {
        const buckets = await store.countEvents({ ...query, account: caller.account });
        total = buckets.reduce((sum, bucket) => sum + bucket.events, 0);
      });
      return {
        measured: `${title}, ${whole(total)} events: median ms`,
        floor: floor.quantile(0.5).toFixed(2),
        ours: ours.quantile(0.5).toFixed(1),
        bar,
      };
    };
    const eventID = countedEventID;
    return [
      await measure('a month by day', '< 50', { eventID, edges: days, users: false }),
      await measure('a month by day, all eventIDs', '', { edges: days, users: false }),
      await measure('distinct users of a month', '< 150', { eventID, edges: month, users: true }),
      await measure('distinct users by day of a month', '', { eventID, edges: days, users: true }),
    ];
  } finally {
    await store.close();
  }
};
