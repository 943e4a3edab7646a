/** The list of a plot's notes, with a form that adds one. */
import { useState } from 'preact/hooks';
import { api, problemOf } from '../../api.ts';
import { canEdit, timezone } from '../../reading/account.ts';
import type { Note } from '../../reading/notes.ts';
import { DialogForm } from '../dialog-form.tsx';
import { Field } from '../field.tsx';
import { act, show } from '../notices.tsx';
import { Time } from '../small.tsx';
import { toLocalTime, toTime } from './local-time.ts';

const maxLength = 200;

const AddNote = ({ close, reload }: { readonly close: () => void; readonly reload: () => void }) => {
  const [noteText, setText] = useState('');
  const [time, setTime] = useState(() => toLocalTime(Date.now(), timezone.value));
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    const noteTime = toTime(time, timezone.value);
    const failure = await problemOf(api.createNote({ noteText, noteTime }));
    setBusy(false);
    if (failure) return setProblem(failure);
    close();
    reload();
    show({ text: 'Added the note.' });
  };
  return (
    <DialogForm title="Add a note" close={close} action="Add" submit={submit} problem={problem} isDisabled={isBusy}>
      <Field label="Note" hint="Such as a release or a mailing. Everyone in the account can read it.">
        {(attributes) => (
          <input
            {...attributes}
            required
            maxLength={maxLength}
            autocomplete="off"
            value={noteText}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label="Time" hint={`In the time zone ${timezone.value}.`}>
        {(attributes) => (
          <input
            {...attributes}
            type="datetime-local"
            required
            min="1970-01-02T00:00"
            max="9999-12-30T00:00"
            value={time}
            onInput={(event) => setTime(event.currentTarget.value)}
          />
        )}
      </Field>
    </DialogForm>
  );
};

const deleteNote = ({ noteID, noteText, noteTime }: Note, refresh: () => void) =>
  act(() => api.deleteNote({ noteID }), {
    done: `Deleted the note “${noteText}”.`,
    undo: () => api.createNote({ noteText, noteTime }),
    refresh,
  });

interface NoteListProps {
  /** Newest first. */
  readonly notes: readonly Note[];
  readonly reload: () => void;
}

export const NoteList = ({ notes, reload }: NoteListProps) => {
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <ul>
        {notes.map((note) => (
          <li key={note.noteID}>
            <Time time={note.noteTime} form="long" />
            <span>{note.noteText}</span>
            {canEdit.value && (
              <button
                type="button"
                class="quiet"
                aria-label={`Delete the note ${note.noteText}`}
                onClick={() => deleteNote(note, reload)}
              >
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
      {canEdit.value && (
        <button type="button" onClick={() => setAdding(true)}>
          Add a note…
        </button>
      )}
      {isAdding && <AddNote close={() => setAdding(false)} reload={reload} />}
    </>
  );
};
