import { limits } from '@firsthand/contract/limits';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Fields, openScene, type Scene } from '../../../../test/fixtures/scene.ts';

const time = Date.parse('2026-11-24T12:00Z');
let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ now: () => time });
});
afterAll(() => scene.close());

const create = (fields: Fields = {}, tokenUUID = scene.tokens.editor) =>
  scene.post('/report/createNote', { tokenUUID, noteText: 'Released', ...fields });
const list = async (fields: Fields = {}) =>
  (await scene.get('/report/listNotes', { tokenUUID: scene.tokens.viewer, ...fields })).body;
const deleteNote = (noteID: string, tokenUUID = scene.tokens.editor) =>
  scene.post('/report/deleteNote', { tokenUUID, noteID });

it('creates, lists and deletes notes', async () => {
  const [now, earlier] = ['2026-11-24T12:00:00.000Z', '2026-11-20T08:00:00.000Z'];
  const { body: released } = await create({ noteText: ' Released 🍋 ' });
  const { body: mailed } = await create({ noteText: 'Mailed', noteTime: earlier }, scene.tokens.server);
  const notes = [
    { noteID: released.noteID, noteText: 'Released 🍋', noteTime: now, createdTime: now },
    { noteID: mailed.noteID, noteText: 'Mailed', noteTime: earlier, createdTime: now },
  ];
  expect(await list()).toEqual({ note: notes, more: false, status: '200' });
  expect(await list({ limit: 1 })).toMatchObject({ note: [notes[0]], more: true });
  expect(await list({ from: earlier, to: now })).toMatchObject({ note: [notes[1]], more: false });
  expect(await list({ from: '2026-11-21' })).toMatchObject({ note: [notes[0]] });
  for (const { noteID } of notes) expect((await deleteNote(noteID)).body).toEqual({ noteID, status: '200' });
  const again = await deleteNote(released.noteID);
  expect([again.status, again.body.error.code, again.body.error.field]).toEqual([404, 'unknown_note', 'noteID']);
  expect((await list()).note).toEqual([]);
});

it('stores a note once if a script sends it again with its time', async () => {
  const note = { noteText: 'Deployed', noteTime: '2026-11-24T11:59:30Z' };
  const [first, second] = [await create(note), await create(note)];
  expect(second.body).toEqual(first.body);
  expect((await list()).note).toHaveLength(1);
  await deleteNote(first.body.noteID);
});

it.each(['browser', 'viewer', 'operator', 'agent'] as const)(
  'refuses to create or delete a note with a %s token',
  async (kind) => {
    const { noteID } = (await create()).body;
    expect((await create({ noteText: 'Mailed' }, scene.tokens[kind])).body.error.code).toBe('token_kind');
    expect((await deleteNote(noteID, scene.tokens[kind])).body.error.code).toBe('token_kind');
    expect((await list()).note).toMatchObject([{ noteID }]);
    await deleteNote(noteID);
  },
);

it.each([
  ['no text', { noteText: ' ' }, 'noteText'],
  ['a long text', { noteText: 'x'.repeat(limits.noteLength + 1) }, 'noteText'],
  ['a line end', { noteText: 'a\nb' }, 'noteText'],
  ['text that changes its direction', { noteText: 'a\u202eb' }, 'noteText'],
  ['a time without an offset', { noteTime: '2026-11-24T12:00:00' }, 'noteTime'],
  ['a time after the year 9999', { noteTime: 253_402_300_800_000 }, 'noteTime'],
])('refuses a note with %s, and names the field', async (_, fields, field) => {
  const { status, body } = await create(fields);
  expect([status, body.error.field]).toEqual([400, field]);
  expect((await list()).note).toEqual([]);
});
