/** Creates, lists and deletes notes. */
import { endOfTime } from '@firsthand/contract/fields';
import { nanoid } from 'nanoid';
import type { Store } from '../../../store/store.ts';
import { accountOf, type Handlers } from '../../access/caller.ts';
import { isoTime } from '../../responses/iso-time.ts';

const defaultLimit = 100;

export const createNotes = (
  store: Pick<Store, 'createNote' | 'listNotes' | 'deleteNote'>,
): Handlers<'createNote' | 'listNotes' | 'deleteNote'> => ({
  createNote: async ({ noteText, noteTime }, caller) => {
    const { time } = caller;
    const note = { account: accountOf(caller), noteID: nanoid(), noteText, noteTime: noteTime ?? time, time };
    return store.createNote(note);
  },

  listNotes: async ({ from = 0, to = endOfTime, limit = defaultLimit }, caller) => {
    const notes = await store.listNotes({ account: accountOf(caller), from, to, limit: limit + 1 });
    return {
      note: notes.slice(0, limit).map(({ noteID, noteText, noteTime, createdTime }) => ({
        noteID,
        noteText,
        noteTime: isoTime(noteTime),
        createdTime: isoTime(createdTime),
      })),
      more: notes.length > limit,
    };
  },

  deleteNote: async ({ noteID }, caller) => {
    await store.deleteNote({ account: accountOf(caller), noteID });
    return { noteID };
  },
});
