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
  scene.post('/report/createView', { tokenUUID, viewName: 'Teapots', viewPage: 'overview', ...fields });
const list = async () => (await scene.get('/report/listViews', { tokenUUID: scene.tokens.viewer })).body.view;
const deleteView = (viewName: string) => scene.post('/report/deleteView', { tokenUUID: scene.tokens.editor, viewName });

it('saves, replaces, lists and deletes views', async () => {
  const viewQuery = 'tab=funnel&steps=3%2C4';
  expect((await create({ viewName: ' Teapots ' })).body).toEqual({
    viewName: 'Teapots',
    replaced: false,
    status: '200',
  });
  time += 5;
  expect((await create({ viewPage: 'events', viewQuery })).body).toMatchObject({ replaced: true });
  await create({ viewName: 'A' });
  const [createdTime, updatedTime] = [time - 5, time].map((at) => new Date(at).toISOString());
  expect(await list()).toEqual([
    { viewName: 'A', viewPage: 'overview', viewQuery: '', createdTime: updatedTime, updatedTime },
    { viewName: 'Teapots', viewPage: 'events', viewQuery, createdTime, updatedTime },
  ]);
  expect((await deleteView('A')).body).toEqual({ viewName: 'A', status: '200' });
  const again = await deleteView('A');
  expect([again.status, again.body.error.code, again.body.error.field]).toEqual([404, 'unknown_view', 'viewName']);
  expect(await list()).toHaveLength(1);
});

it.each(['browser', 'viewer', 'operator'] as const)(
  'refuses to save or delete a view with a %s token',
  async (kind) => {
    const before = await list();
    expect((await create({}, scene.tokens[kind])).body.error.code).toBe('token_kind');
    const fields = { tokenUUID: scene.tokens[kind], viewName: 'Teapots' };
    expect((await scene.post('/report/deleteView', fields)).body.error.code).toBe('token_kind');
    expect(await list()).toEqual(before);
  },
);

it.each([
  ['no name', { viewName: ' ' }, 'viewName'],
  ['a long name', { viewName: 'x'.repeat(limits.nameLength + 1) }, 'viewName'],
  ['another page', { viewPage: 'settings' }, 'viewPage'],
  ['a page outside the console', { viewPage: '//evil.example' }, 'viewPage'],
  ['no page', { viewPage: undefined }, 'viewPage'],
  ['a long query', { viewQuery: 'x'.repeat(limits.viewQueryLength + 1) }, 'viewQuery'],
  ['a query with its question mark', { viewQuery: '?range=7d' }, 'viewQuery'],
  ['a query with a line end', { viewQuery: 'range=7d\nx' }, 'viewQuery'],
  ['a query that is not encoded', { viewQuery: 'event=Größe' }, 'viewQuery'],
  ['a list', { viewQuery: ['range=7d'] }, 'viewQuery'],
])('refuses a view with %s, and names the field', async (_, fields, field) => {
  const before = await list();
  const { status, body } = await create(fields);
  expect([status, body.error.field]).toEqual([400, field]);
  expect(await list()).toEqual(before);
});
