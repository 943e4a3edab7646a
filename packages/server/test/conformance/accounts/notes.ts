import { endOfTime } from '@firsthand/contract/fields';
import { limits } from '@firsthand/contract/limits';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Note } from '../../../src/store/store.ts';
import { runs } from '../../fixtures/runs.ts';
import type { Site } from '../../fixtures/site.ts';
import { expectRefusal } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

const create = ({ store, account, time }: Site, noteID: string, changes: Partial<Note> = {}) =>
  store.createNote({ account, noteID, noteText: 'Released', noteTime: time, time, ...changes });
const list = (
  { store, account }: Site,
  { from = 0, to = endOfTime, limit = limits.notesPerAccount }: { from?: number; to?: number; limit?: number } = {},
) => store.listNotes({ account, from, to, limit });

const noteTime = fc.integer({ min: 1, max: 6 });
const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ noteTime, noteText: fc.constantFrom('Released', 'released', "'", '🍋', '__proto__') }),
  },
  { weight: 1, arbitrary: fc.record({ deleted: fc.nat({ max: 12 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ from: fc.integer({ min: 0, max: 6 }), to: fc.integer({ min: 1, max: 8 }), limit: noteTime }),
  },
);

export const describeNotes = (newSite: NewSite): void => {
  describe('notes', () => {
    test('are the notes of a simple model, after any creations and deletions', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 20 }), async (actions) => {
          const site = await newSite();
          const { store, account, time } = site;
          let model: Note[] = [];
          for (const [nth, given] of actions.entries()) {
            const noteID = `note-${nth}`;
            if ('noteText' in given) {
              const existing = model.find(
                (each) => each.noteTime === given.noteTime && each.noteText === given.noteText,
              );
              expect(await create(site, noteID, given)).toEqual({ noteID: existing?.noteID ?? noteID });
              if (!existing) model.push({ noteID, ...given, createdTime: time });
            } else if ('deleted' in given) {
              const deletion = store.deleteNote({ account, noteID: `note-${given.deleted}` });
              if (model.some((each) => each.noteID === `note-${given.deleted}`)) await deletion;
              else await expectRefusal(deletion, 'unknown_note');
              model = model.filter((each) => each.noteID !== `note-${given.deleted}`);
            } else {
              const expected = model
                .filter((each) => given.from <= each.noteTime && each.noteTime < given.to)
                .sort((a, b) => b.noteTime - a.noteTime || (a.noteID < b.noteID ? -1 : 1));
              expect(await list(site, given)).toEqual(expected.slice(0, given.limit));
            }
          }
        }),
        { numRuns: runs(10, 20) },
      );
    });

    test('are stored once if the same note is created concurrently', async () => {
      const site = await newSite();
      const created = await Promise.all(Array.from({ length: 6 }, (_, nth) => create(site, `note-${nth}`)));
      expect(new Set(created.map(({ noteID }) => noteID)).size).toBe(1);
      expect(await list(site)).toHaveLength(1);
    });

    test('are separate in each account, even with the same IDs', async () => {
      const [one, other] = [await newSite(), await newSite()];
      await create(one, 'a');
      expect(await list(other)).toEqual([]);
      await expectRefusal(other.store.deleteNote({ account: other.account, noteID: 'a' }), 'unknown_note');
      expect(await create(other, 'a', { noteText: 'Mailed' })).toEqual({ noteID: 'a' });
      await other.store.deleteNote({ account: other.account, noteID: 'a' });
      expect(await list(one)).toMatchObject([{ noteID: 'a', noteText: 'Released' }]);
    });
  });
};
