// A worker that is away at midnight: the accounts of the other begin the day without it.
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import { onOneConnection } from '../../src/store/postgres/database/connection.ts';
import { prepareNextDay } from '../../src/store/postgres/events/partitions.ts';
import { asking } from '../fixtures/postgres/asking.ts';
import { createSite, type Site } from '../fixtures/site.ts';
import type { Node } from './cluster.ts';
import { useOwnCluster } from './tools/own-cluster.ts';

const cluster = useOwnCluster();
const day = 86_400_000;
const time = Date.UTC(2030, 0, 31, 12);

/** Whether the node has the account's rows. */
const isOn = async (databaseURL: string, node: Node, { account }: Site): Promise<boolean> => {
  const sql = `SELECT nodename AS name FROM pg_dist_node JOIN pg_dist_placement USING (groupid)
    WHERE shardid = get_shard_id_for_distribution_column('event', ${account})`;
  const [place] = await asking<{ name: string }>(databaseURL, sql);
  return place?.name.endsWith(node) === true;
};

test.each([
  { prepared: true, answers: { other: 'kept', lost: 'refused' } },
  { prepared: false, answers: { other: 'refused', lost: 'refused' } },
])(
  'while a worker is away, a day begins for the accounts of the other when it was prepared: $prepared',
  async ({ prepared, answers }) => {
    const { databaseURL } = await cluster.newDatabase();
    const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
    const siteOn = async (node: Node): Promise<Site> => {
      const site = await createSite(store, { time });
      return (await isOn(databaseURL, node, site)) ? site : siteOn(node);
    };
    const [other, lost] = [await siteOn('worker-1'), await siteOn('worker-2')];
    const logged = (site: Site, at: number) =>
      site.server.logAt(at, { eventUUID: `event-of-${at}` }).then(
        () => 'kept',
        () => 'refused',
      );
    try {
      expect(await Promise.all([other, lost].map((site) => logged(site, time)))).toEqual(['kept', 'kept']);
      if (prepared) await onOneConnection(databaseURL, (db) => prepareNextDay(db, time));
      await cluster.stop('worker-2');
      try {
        expect({ other: await logged(other, time + day), lost: await logged(lost, time + day) }).toEqual(answers);
      } finally {
        await cluster.start('worker-2');
      }
      await expect.poll(() => logged(lost, time + day), { timeout: 60_000 }).toBe('kept');
      expect(await logged(other, time + day)).toBe('kept');
      for (const site of [other, lost])
        expect((await site.events()).map(({ eventTime }) => eventTime)).toEqual([time, time + day]);
    } finally {
      await store.close();
    }
  },
);
