import { limits } from '@firsthand/contract/limits';
import { describe, expect, test } from 'vitest';
import type { Site } from '../../fixtures/site.ts';
import { expectRefusal } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

const filter = '{"event":7}';

const save = ({ store, account, time }: Site, segmentName: string, changes: { filter?: string; time?: number } = {}) =>
  store.saveSegment({ account, segmentName, filter, time, ...changes });
const namesOf = async ({ store, account }: Site, segmentNames?: readonly string[]) =>
  (await store.listSegments({ account, segmentNames })).map(({ segmentName }) => segmentName);

export const describeSegments = (newSite: NewSite): void => {
  describe('segments', () => {
    test('are listed by name exactly as saved: all of them, or only the requested ones', async () => {
      const site = await newSite();
      const names = ['b', 'a', '__proto__', 'constructor', 'é', 'B', '🍋', '', "'); DROP TABLE account; --"];
      for (const name of names) expect(await save(site, name)).toEqual({ replaced: false });
      const sorted = [...names].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
      expect(await namesOf(site)).toEqual(sorted);
      expect(await namesOf(site, ['b', 'constructor', 'nobody', 'b', '"'])).toEqual(['b', 'constructor']);
      expect(await namesOf(site, [])).toEqual([]);
      const { store, account, time } = site;
      expect(await store.listSegments({ account, segmentNames: ['é'] })).toEqual([
        { segmentName: 'é', filter, createdTime: time, updatedTime: time },
      ]);
    });

    test('get a new filter when saved under the same name; saving the same filter again changes nothing', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      await save(site, 'Buyers');
      const later = { filter: '{"event":8}', time: time + 5 };
      const expected = [{ segmentName: 'Buyers', filter: later.filter, createdTime: time, updatedTime: time + 5 }];
      for (const _ of [1, 2]) {
        expect(await save(site, 'Buyers', later)).toEqual({ replaced: true });
        expect(await store.listSegments({ account })).toEqual(expected);
      }
    });

    test('have filters of up to 16 KiB, with any characters', async () => {
      const site = await newSite();
      const long = JSON.stringify({ attrID: 'a', is: `"\\\n${'🍋'.repeat(4_000)}` });
      await save(site, 'Buyers', { filter: long });
      expect(await site.store.listSegments({ account: site.account })).toMatchObject([{ filter: long }]);
    });

    test('are deleted by name, once', async () => {
      const site = await newSite();
      const { store, account } = site;
      await save(site, 'a');
      await save(site, 'b');
      await store.deleteSegment({ account, segmentName: 'a' });
      expect(await namesOf(site)).toEqual(['b']);
      await expectRefusal(store.deleteSegment({ account, segmentName: 'a' }), 'unknown_segment');
      await expectRefusal(store.deleteSegment({ account, segmentName: 'B' }), 'unknown_segment');
      expect(await save(site, 'a')).toEqual({ replaced: false });
    });

    test('are limited to 100 per account, even if saved concurrently', async () => {
      const site = await newSite();
      const maxSegments = limits.segmentsPerAccount;
      for (let nth = 3; nth < maxSegments; nth += 1) await save(site, `segment ${nth}`);
      const outcomes = await Promise.allSettled(Array.from({ length: 12 }, (_, nth) => save(site, `at once ${nth}`)));
      const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      expect(refused).toHaveLength(9);
      expect(refused[0]).toMatchObject({ code: 'invalid_field', field: 'segmentName' });
      expect(await namesOf(site)).toHaveLength(maxSegments);
      expect(await save(site, 'segment 50')).toEqual({ replaced: true });
      await expectRefusal(save(site, 'one more'), 'invalid_field');
      await site.store.deleteSegment({ account: site.account, segmentName: 'segment 50' });
      expect(await save(site, 'one more')).toEqual({ replaced: false });
    });

    test('are separate in each account, even with the same names', async () => {
      const one = await newSite();
      const other = await newSite({ time: one.time });
      await save(one, 'Buyers');
      await save(one, 'Visitors');
      expect(await namesOf(other)).toEqual([]);
      expect(await save(other, 'Buyers', { filter: '{"event":9}' })).toEqual({ replaced: false });
      await expectRefusal(
        other.store.deleteSegment({ account: other.account, segmentName: 'Visitors' }),
        'unknown_segment',
      );
      await other.store.deleteSegment({ account: other.account, segmentName: 'Buyers' });
      expect(await one.store.listSegments({ account: one.account })).toMatchObject([
        { segmentName: 'Buyers', filter },
        { segmentName: 'Visitors', filter },
      ]);
    });
  });
};
