import { limits } from '@firsthand/contract/limits';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Fields, openScene, type Scene } from '../../../../test/fixtures/scene.ts';

let time = Date.parse('2026-11-24T12:00Z');
let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ now: () => time });
});
afterAll(() => scene.close());

const create = (fields: Fields, tokenUUID = scene.tokens.editor) =>
  scene.post('/report/createGoal', { tokenUUID, goalName: 'Paid', ...fields });
const update = (fields: Fields, tokenUUID = scene.tokens.editor) =>
  scene.post('/report/updateGoal', { tokenUUID, ...fields });
const list = async () => (await scene.get('/report/listGoals', { tokenUUID: scene.tokens.viewer })).body.goal;
const deleteGoal = (goalID: string, tokenUUID = scene.tokens.editor) =>
  scene.post('/report/deleteGoal', { tokenUUID, goalID });

it('creates, changes, lists and deletes goals', async () => {
  const { goalID } = (await create({ goalName: ' Paid ', eventName: 'Bought', attrID: 'amount' })).body;
  const { goalID: other } = (await create({ goalName: 'Came', path: '/welcome/*' })).body;
  const created = { createdTime: '2026-11-24T12:00:00.000Z', updatedTime: '2026-11-24T12:00:00.000Z' };
  expect(await list()).toEqual([
    { goalID: other, goalName: 'Came', path: '/welcome/*', attrID: '', ...created },
    { goalID, goalName: 'Paid', eventName: 'Bought', attrID: 'amount', ...created },
  ]);
  time += 5;
  expect((await update({ goalID, eventID: 7 })).body).toEqual({ goalID, status: '200' });
  await update({ goalID, goalName: 'Bought', attrID: null });
  const changed = { goalID, goalName: 'Bought', eventID: 7, attrID: '' };
  expect(await list()).toContainEqual({ ...changed, ...created, updatedTime: '2026-11-24T12:00:00.005Z' });
  expect((await deleteGoal(goalID)).body).toEqual({ goalID, status: '200' });
  for (const { status, body } of [await deleteGoal(goalID), await update({ goalID, path: '/' })])
    expect([status, body.error.code, body.error.field]).toEqual([404, 'unknown_goal', 'goalID']);
  await deleteGoal(other);
});

it.each(['browser', 'viewer', 'operator', 'agent'] as const)(
  'refuses to create, change or delete a goal with a %s token',
  async (kind) => {
    const { goalID } = (await create({ eventID: 1 })).body;
    const token = scene.tokens[kind];
    for (const refused of [
      await create({ goalName: 'Other', eventID: 1 }, token),
      await update({ goalID, eventID: 2 }, token),
      await deleteGoal(goalID, token),
    ])
      expect(refused.body.error.code).toBe('token_kind');
    expect(await list()).toMatchObject([{ goalID, eventID: 1 }]);
    await deleteGoal(goalID);
  },
);

it.each([
  ['no name', { goalName: ' ', eventID: 1 }, 'goalName'],
  ['a long name', { goalName: 'x'.repeat(limits.nameLength + 1), eventID: 1 }, 'goalName'],
  ['a name of two lines', { goalName: 'a\nb', eventID: 1 }, 'goalName'],
  ['neither an event nor a path', {}, 'eventID'],
  ['an event and a path', { eventID: 1, path: '/' }, 'eventID'],
  ['two events', { eventID: 1, eventName: 'Paid' }, 'eventID'],
  ['a long path', { path: `/${'x'.repeat(limits.nameLength)}` }, 'path'],
  ['too many wildcards', { path: '/*'.repeat(limits.wildcardsPerPattern + 1) }, 'path'],
  ['no attribute', { eventID: 1, attrID: ',' }, 'attrID'],
])('refuses a goal with %s, and names the field', async (_, fields, field) => {
  const { status, body } = await create(fields);
  expect([status, body.error.field]).toEqual([400, field]);
  expect(await list()).toEqual([]);
});

it('refuses to change a goal to an event and a path', async () => {
  const { goalID } = (await create({ eventID: 1 })).body;
  expect((await update({ goalID, eventID: 1, path: '/' })).body.error).toMatchObject({
    field: 'eventID',
    message: '`eventID` and `eventName` and `path` exclude each other: send only one of them',
  });
  await deleteGoal(goalID);
});
