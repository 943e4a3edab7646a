import { limits } from '@firsthand/contract/limits';
import { describe, expect, test } from 'vitest';
import type { SavedView } from '../../../src/store/store.ts';
import type { Site } from '../../fixtures/site.ts';
import { expectRefusal } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

const viewFields = { page: 'events', query: 'tab=funnel&steps=3%2C4' } as const;

const save = (
  { store, account, time }: Site,
  viewName: string,
  changes: Partial<Pick<SavedView, 'page' | 'query'> & { time: number }> = {},
) => store.saveView({ account, viewName, ...viewFields, time, ...changes });
const namesOf = async ({ store, account }: Site) =>
  (await store.listViews({ account })).map(({ viewName }) => viewName);

export const describeViews = (newSite: NewSite): void => {
  describe('saved views', () => {
    test('are listed by name exactly as saved', async () => {
      const site = await newSite();
      const names = ['b', 'a', '__proto__', 'constructor', 'é', 'B', '🍋', '', "'); DROP TABLE account; --"];
      for (const name of names) expect(await save(site, name)).toEqual({ replaced: false });
      expect(await namesOf(site)).toEqual(
        names.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))),
      );
    });

    test('are replaced when saved under the same name; saving the same view again changes nothing', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      await save(site, 'Buyers');
      const later = { page: 'overview', query: 'x='.padEnd(limits.viewQueryLength, 'y') } as const;
      for (const _ of [1, 2]) {
        expect(await save(site, 'Buyers', { ...later, time: time + 5 })).toEqual({ replaced: true });
        expect(await store.listViews({ account })).toEqual([
          { viewName: 'Buyers', ...later, createdTime: time, updatedTime: time + 5 },
        ]);
      }
    });

    test('are deleted by name, once', async () => {
      const site = await newSite();
      const { store, account } = site;
      await save(site, 'a');
      await save(site, 'b');
      await store.deleteView({ account, viewName: 'a' });
      expect(await namesOf(site)).toEqual(['b']);
      await expectRefusal(store.deleteView({ account, viewName: 'a' }), 'unknown_view');
      await expectRefusal(store.deleteView({ account, viewName: 'B' }), 'unknown_view');
    });

    test('are limited to 100 per account, even if saved concurrently', async () => {
      const site = await newSite();
      const maxViews = limits.viewsPerAccount;
      for (let nth = 3; nth < maxViews; nth += 1) await save(site, `view ${nth}`);
      const outcomes = await Promise.allSettled(Array.from({ length: 12 }, (_, nth) => save(site, `at once ${nth}`)));
      const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      expect(refused).toHaveLength(9);
      expect(refused[0]).toMatchObject({ code: 'invalid_field', field: 'viewName' });
      expect(await save(site, 'view 50')).toEqual({ replaced: true });
      await site.store.deleteView({ account: site.account, viewName: 'view 50' });
      expect(await save(site, 'one more')).toEqual({ replaced: false });
      expect(await namesOf(site)).toHaveLength(maxViews);
    });

    test('are separate in each account, even with the same names', async () => {
      const [one, other] = [await newSite(), await newSite()];
      await save(one, 'Buyers');
      expect(await namesOf(other)).toEqual([]);
      await expectRefusal(other.store.deleteView({ account: other.account, viewName: 'Buyers' }), 'unknown_view');
      expect(await save(other, 'Buyers')).toEqual({ replaced: false });
      await other.store.deleteView({ account: other.account, viewName: 'Buyers' });
      expect(await namesOf(one)).toEqual(['Buyers']);
    });
  });
};
