/** The number of notes of a plot, and their list. */
import { useState } from 'preact/hooks';
import { canEdit } from '../../reading/account.ts';
import { formatWhole } from '../../reading/format.ts';
import type { ListedNotes } from '../../reading/notes.ts';
import type { FetchState } from '../../reading/use-fetch.ts';
import { Lazy } from '../lazy.tsx';

const loadList = () => import('./note-list.tsx').then(({ NoteList }) => NoteList);

/** The list is closed at first, so that the page does not move when the notes arrive. */
export const Notes = ({ notes }: { readonly notes: FetchState<ListedNotes | undefined> }) => {
  const [wasOpened, setOpened] = useState(false);
  const { note = [], more } = notes.value ?? {};
  if (note.length === 0 && !canEdit.value) return null;
  return (
    <details class="notes" onToggle={() => setOpened(true)}>
      <summary>Notes{note.length > 0 && ` · ${formatWhole(note.length)}${more ? '+' : ''}`}</summary>
      {wasOpened && <Lazy load={loadList} notes={note} reload={notes.reload} />}
    </details>
  );
};
