// While a worker is stopped or hangs, the accounts of the other begin the day without it. Old events wait until it is back.
import { expect, test } from 'vitest';
import { Refusal } from '../../../src/shared/refusal.ts';
import { openStore } from '../../../src/store/open.ts';
import { onOneConnection } from '../../../src/store/postgres/database/connection.ts';
import { tendDays } from '../../../src/store/postgres/days/partitions.ts';
import { nextDayFinding } from '../../../src/store/postgres/doctor/doctor.ts';
import { daysKept } from '../../../src/store/rules/received-day.ts';
import { asking } from '../../fixtures/postgres/asking.ts';
import { createSite, type Site } from '../../fixtures/site.ts';
import { freezeNode, type Node } from '../cluster.ts';
import { useOwnCluster, workerOf } from '../tools/own-cluster.ts';

const cluster = useOwnCluster();
const day = 86_400_000;
const time = Date.UTC(2030, 0, 31, 12);

const logAt = (site: Site, at: number): Promise<string> =>
  site.server.logAt(at, { eventUUID: `event-of-${at}` }).then(
    () => 'kept',
    (error) => {
      if (error instanceof Refusal && error.code === 'unavailable') return error.code;
      throw error;
    },
  );

/** A store, and a site on each worker. */
const openSites = async () => {
  const { databaseURL } = await cluster.newDatabase();
  const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  const found = new Map<Node, Site>();
  for (let tried = 0; found.size < 2 && tried < 64; tried += 1) {
    const site = await createSite(store, { time });
    found.set(await workerOf(databaseURL, String(site.account)), site);
  }
  return {
    databaseURL,
    store,
    other: found.get('worker-1') as Site,
    lost: found.get('worker-2') as Site,
    tend: (at: number) => onOneConnection(databaseURL, (db) => tendDays(db, at)),
  };
};

test.each([
  { prepared: true, answers: { other: 'kept', lost: 'unavailable' } },
  { prepared: false, answers: { other: 'unavailable', lost: 'unavailable' } },
])(
  'while a worker is away, a day begins for the accounts of the other when it was prepared: $prepared',
  async ({ prepared, answers }) => {
    const { store, other, lost, tend } = await openSites();
    try {
      expect(await Promise.all([other, lost].map((site) => logAt(site, time)))).toEqual(['kept', 'kept']);
      if (prepared) await tend(time);
      await cluster.stop('worker-2');
      try {
        expect({ other: await logAt(other, time + day), lost: await logAt(lost, time + day) }).toEqual(answers);
      } finally {
        await cluster.start('worker-2');
      }
      await expect.poll(() => logAt(lost, time + day)).toBe('kept');
      expect(await logAt(other, time + day)).toBe('kept');
      for (const site of [other, lost])
        expect((await site.events()).map(({ eventTime }) => eventTime)).toEqual([time, time + day]);
    } finally {
      await store.close();
    }
  },
);

test('old events and refused requests are deleted once a worker is back, and doctor misses the next day meanwhile', async () => {
  const { databaseURL, store, other, lost, tend } = await openSites();
  const deleteOld = () => store.deleteEventsBefore({ time: time + 1, most: 3 });
  const nextDay = () => onOneConnection(databaseURL, (db) => nextDayFinding(db, time + day, 0));
  try {
    for (const site of [other, lost]) {
      await site.server.logAt(time, {}, {}, {}, {});
      const request = { operation: 'logEvent', input: {}, address: null, code: 'missing_field', message: '' } as const;
      const { account, token } = site.server;
      await store.keepRefused({ account, token, time, sender: 0, requests: [request] });
    }
    await cluster.stop('worker-2');
    try {
      await expect(deleteOld()).rejects.toMatchObject({ code: 'unavailable' });
      await expect(tend(time + day)).rejects.toThrow();
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
    await tend(time + day);
    expect(await nextDay()).toMatchObject({ ok: true });
  } finally {
    await store.close();
  }
});

test('while a worker hangs, the accounts of the other go on over midnight, beside a server that tends the days', async () => {
  const { databaseURL, store, other, lost, tend } = await openSites();
  const last = time + daysKept * day;
  const countDays = async () => {
    const [row] = await asking<{ days: number }>(databaseURL, 'SELECT count(*)::integer AS days FROM kept_day');
    return row?.days;
  };
  try {
    for (let at = time; at < last; at += day)
      for (const site of [other, lost]) expect(await logAt(site, at)).toBe('kept');
    await tend(last - day);
    const thaw = freezeNode(cluster.cluster(), 'worker-2');
    try {
      expect(await logAt(other, last)).toBe('kept');
      // Another day to prepare, and one to forget.
      const tending = tend(last).then(
        () => 'done',
        () => 'given up',
      );
      let kept = 0;
      let outcome: string | undefined;
      void tending.then((each) => {
        outcome = each;
      });
      while (outcome === undefined) {
        expect(await logAt(other, last + kept)).toBe('kept');
        kept += 1;
      }
      expect(outcome).toBe('given up');
      expect(kept).toBeGreaterThan(1);
    } finally {
      thaw();
    }
    expect(await countDays()).toBe(daysKept + 1);
    await tend(last);
    expect(await countDays()).toBe(daysKept);
    await expect.poll(() => logAt(lost, last)).toBe('kept');
  } finally {
    await store.close();
  }
});
