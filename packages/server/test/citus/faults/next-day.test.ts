// Tests that while a worker is stopped or hangs, the accounts on the other worker start a new day without it. Old
// events are deleted once the worker is back.
import { expect, test } from 'vitest';
import { Refusal } from '../../../src/shared/refusal.ts';
import { openStore } from '../../../src/store/open.ts';
import { runOnConnection } from '../../../src/store/postgres/database/connection.ts';
import { maintainPartitions } from '../../../src/store/postgres/days/partitions.ts';
import { nextDayFinding } from '../../../src/store/postgres/doctor/doctor.ts';
import { dedupDays } from '../../../src/store/rules/received-day.ts';
import { querySQL } from '../../fixtures/postgres/sql.ts';
import { createSite, type Site } from '../../fixtures/site.ts';
import { freezeNode, type Node } from '../cluster.ts';
import { findWorker, useOwnCluster } from '../tools/own-cluster.ts';

const cluster = useOwnCluster();
const day = 86_400_000;
const time = Date.UTC(2030, 0, 31, 12);

const logAt = (site: Site, at: number): Promise<string> =>
  site.server.logAt(at, { eventUUID: `event-of-${at}` }).then(
    () => 'stored',
    (error) => {
      if (error instanceof Refusal && error.code === 'unavailable') return error.code;
      throw error;
    },
  );

/** Opens a store, and creates one site on each worker. */
const openSites = async () => {
  const { databaseURL } = await cluster.newDatabase();
  const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  const sites = new Map<Node, Site>();
  for (let tries = 0; sites.size < 2 && tries < 64; tries += 1) {
    const site = await createSite(store, { time });
    sites.set(await findWorker(databaseURL, String(site.account)), site);
  }
  return {
    databaseURL,
    store,
    other: sites.get('worker-1') as Site,
    lost: sites.get('worker-2') as Site,
    maintain: (at: number) => runOnConnection(databaseURL, (db) => maintainPartitions(db, at)),
  };
};

test.each([
  { prepared: true, outcomes: { other: 'stored', lost: 'unavailable' } },
  { prepared: false, outcomes: { other: 'unavailable', lost: 'unavailable' } },
])(
  'starts a new day for one worker’s accounts while the other worker is down only if the day was prepared: $prepared',
  async ({ prepared, outcomes }) => {
    const { store, other, lost, maintain } = await openSites();
    try {
      expect(await Promise.all([other, lost].map((site) => logAt(site, time)))).toEqual(['stored', 'stored']);
      if (prepared) await maintain(time);
      await cluster.stop('worker-2');
      try {
        expect({ other: await logAt(other, time + day), lost: await logAt(lost, time + day) }).toEqual(outcomes);
      } finally {
        await cluster.start('worker-2');
      }
      await expect.poll(() => logAt(lost, time + day)).toBe('stored');
      expect(await logAt(other, time + day)).toBe('stored');
      for (const site of [other, lost])
        expect((await site.events()).map(({ eventTime }) => eventTime)).toEqual([time, time + day]);
    } finally {
      await store.close();
    }
  },
);

test('deletes old events and refused requests once a worker is back, and doctor reports missing partitions', async () => {
  const { databaseURL, store, other, lost, maintain } = await openSites();
  const deleteOld = () => store.deleteEventsBefore({ time: time + 1, limit: 3 });
  const nextDay = () => runOnConnection(databaseURL, (db) => nextDayFinding(db, time + day, 0));
  try {
    for (const site of [other, lost]) {
      await site.server.logAt(time, {}, {}, {}, {});
      const request = { operation: 'logEvent', input: {}, address: null, code: 'missing_field', message: '' } as const;
      const { account, token } = site.server;
      await store.addRefused({ account, token, time, sender: 0, requests: [request] });
    }
    await cluster.stop('worker-2');
    try {
      await expect(deleteOld()).rejects.toMatchObject({ code: 'unavailable' });
      await expect(maintain(time + day)).rejects.toThrow();
      expect(await nextDay()).toMatchObject({ ok: false });
    } finally {
      await cluster.start('worker-2');
    }
    await expect.poll(() => deleteOld().catch(() => 'not yet')).toBe(3);
    for (let deleted = 3; deleted > 0; ) deleted = await deleteOld();
    for (const site of [other, lost]) {
      expect(await site.events()).toEqual([]);
      expect(await store.countRefused({ account: site.account })).toMatchObject([{ listed: 0, evicted: 1 }]);
    }
    await maintain(time + day);
    expect(await nextDay()).toMatchObject({ ok: true });
  } finally {
    await store.close();
  }
});

test('serves accounts on other workers past midnight while a worker hangs and a server maintains partitions', async () => {
  const { databaseURL, store, other, lost, maintain } = await openSites();
  const last = time + dedupDays * day;
  const countDays = async () => {
    const [row] = await querySQL<{ days: number }>(databaseURL, 'SELECT count(*)::integer AS days FROM kept_day');
    return row?.days;
  };
  try {
    for (let at = time; at < last; at += day)
      for (const site of [other, lost]) expect(await logAt(site, at)).toBe('stored');
    await maintain(last - day);
    const thaw = freezeNode(cluster.cluster(), 'worker-2');
    try {
      expect(await logAt(other, last)).toBe('stored');
      // Runs maintenance at a time when it prepares one day and drops another.
      const maintaining = maintain(last).then(
        () => 'done',
        () => 'failed',
      );
      let count = 0;
      let outcome: string | undefined;
      void maintaining.then((each) => {
        outcome = each;
      });
      while (outcome === undefined) {
        expect(await logAt(other, last + count)).toBe('stored');
        count += 1;
      }
      expect(outcome).toBe('failed');
      expect(count).toBeGreaterThan(1);
    } finally {
      thaw();
    }
    expect(await countDays()).toBe(dedupDays + 1);
    await maintain(last);
    expect(await countDays()).toBe(dedupDays);
    await expect.poll(() => logAt(lost, last)).toBe('stored');
  } finally {
    await store.close();
  }
});
