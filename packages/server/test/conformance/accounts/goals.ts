import { limits } from '@firsthand/contract/limits';
import { describe, expect, test } from 'vitest';
import type { Goal } from '../../../src/store/store.ts';
import type { Site } from '../../fixtures/site.ts';
import { expectRefusal } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

const paid = { goalName: 'Paid', eventID: null, eventName: 'Paid', path: null, attrID: 'amount' };

const create = ({ store, account, time }: Site, goalID: string, changes: Partial<Goal> = {}) =>
  store.createGoal({ account, goalID, ...paid, time, ...changes });
const list = ({ store, account }: Site) => store.listGoals({ account });
const namesOf = async (site: Site) => (await list(site)).map(({ goalName }) => goalName);

export const describeGoals = (newSite: NewSite): void => {
  describe('goals', () => {
    test('are listed by name exactly as created', async () => {
      const site = await newSite();
      const names = ['b', 'a', '__proto__', 'constructor', 'é', 'B', '🍋', "'); DROP TABLE account; --"];
      for (const [nth, goalName] of names.entries()) await create(site, `goal-${nth}`, { goalName });
      expect(await namesOf(site)).toEqual(
        [...names].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))),
      );
      const ofPage = { goalName: 'Thanked', eventName: null, path: '/thank-you/*', attrID: '' };
      await create(site, 'page', ofPage);
      expect(await list(site)).toContainEqual({
        ...{ ...paid, goalID: 'page', ...ofPage, createdTime: site.time, updatedTime: site.time },
      });
    });

    test('change only the given fields', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      await create(site, 'a');
      const changes = { eventID: 7, eventName: null };
      for (const _ of [1, 2]) {
        await store.updateGoal({ account, goalID: 'a', changes, time: time + 5 });
        expect(await list(site)).toEqual([
          { goalID: 'a', ...paid, ...changes, createdTime: time, updatedTime: time + 5 },
        ]);
      }
      await store.updateGoal({ account, goalID: 'a', changes: {}, time: time + 6 });
      expect(await list(site)).toMatchObject([{ ...changes, updatedTime: time + 6 }]);
      await expectRefusal(store.updateGoal({ account, goalID: 'b', changes, time }), 'unknown_goal');
    });

    test('have unique names, even if created concurrently', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const created = await Promise.allSettled(['a', 'b', 'c'].map((goalID) => create(site, goalID)));
      expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      await create(site, 'other', { goalName: 'Other' });
      const rename = (goalName: string) => store.updateGoal({ account, goalID: 'other', changes: { goalName }, time });
      await expect(rename('Paid')).rejects.toMatchObject({ code: 'invalid_field', field: 'goalName' });
      await rename('Other');
      await rename('paid');
      expect(await namesOf(site)).toEqual(['Paid', 'paid']);
    });

    test('are deleted by ID, once', async () => {
      const site = await newSite();
      const { store, account } = site;
      await create(site, 'a');
      await store.deleteGoal({ account, goalID: 'a' });
      expect(await list(site)).toEqual([]);
      await expectRefusal(store.deleteGoal({ account, goalID: 'a' }), 'unknown_goal');
    });

    test('are limited to 50 per account, even if created concurrently', async () => {
      const site = await newSite();
      const ids = Array.from({ length: limits.goalsPerAccount + 5 }, (_, nth) => `goal ${nth}`);
      const outcomes = await Promise.allSettled(ids.map((goalID) => create(site, goalID, { goalName: goalID })));
      const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      expect(refused).toHaveLength(5);
      expect(refused[0]).toMatchObject({ code: 'invalid_field', field: 'goalName' });
      expect(await list(site)).toHaveLength(limits.goalsPerAccount);
    });

    test('are separate in each account, even with the same names and IDs', async () => {
      const [one, other] = [await newSite(), await newSite()];
      await create(one, 'a');
      expect(await list(other)).toEqual([]);
      const foreign = { account: other.account, goalID: 'a' };
      await expectRefusal(other.store.deleteGoal(foreign), 'unknown_goal');
      await expectRefusal(other.store.updateGoal({ ...foreign, changes: {}, time: other.time }), 'unknown_goal');
      await create(other, 'a', { attrID: '' });
      await other.store.deleteGoal(foreign);
      expect(await list(one)).toMatchObject([{ goalID: 'a', ...paid }]);
    });
  });
};
