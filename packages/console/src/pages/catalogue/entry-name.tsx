/** An entry's name, edited in place: Enter saves, Escape cancels. */
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Badge } from '../../parts/small.tsx';
import { canEdit } from '../../reading/account.ts';
import { describeConflict, type Entry, findNamesake, type Kind } from './entries.ts';
import { MergeDialog } from './merge-entry.tsx';
import { rename } from './undoable-changes.ts';

interface NameProps {
  readonly kind: Kind;
  readonly entry: Entry;
  /** All entries in the catalogue. */
  readonly entries: readonly Entry[];
}

interface EditorProps extends NameProps {
  readonly close: () => void;
  readonly mergeWith: (other: Entry) => void;
}

const Editor = ({ kind, entry, entries, close, mergeWith }: EditorProps) => {
  const { name } = entry;
  const problemID = useId();
  const [conflict, setConflict] = useState<Entry | undefined>(undefined);
  const [text, setText] = useState(name);
  const input = useRef<HTMLInputElement>(null);
  // A layout effect, so that the text is selected before the next key press.
  useLayoutEffect(() => input.current?.select(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    const newName = text.trim();
    const other = newName === name ? undefined : findNamesake(newName, entries, entry);
    if (other) return setConflict(other);
    if (newName !== '' && newName !== name) rename(kind, entry, newName);
    close();
  };
  return (
    <form class="name-editor" onSubmit={submit}>
      <input
        ref={input}
        type="text"
        aria-label={`New name of ${name}`}
        maxLength={255}
        value={text}
        aria-invalid={conflict !== undefined}
        aria-describedby={conflict && problemID}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setConflict(undefined);
        }}
        onKeyDown={(event) => event.key === 'Escape' && close()}
      />
      <button type="submit">Save</button>
      <button type="button" class="quiet" onClick={close}>
        Cancel
      </button>
      {conflict && (
        <p id={problemID} class="field-problem" role="alert">
          {describeConflict(kind, conflict)}{' '}
          {entry.isListed && entry.merged.length === 0 && (
            <button type="button" onClick={() => mergeWith(conflict)}>
              Merge them…
            </button>
          )}
        </p>
      )}
    </form>
  );
};

export const EntryName = (props: NameProps) => {
  const { entry } = props;
  const [partner, setPartner] = useState<Entry | undefined>(undefined);
  const [isEditing, setEditing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const isBusy = isEditing || partner !== undefined;
  const wasBusy = useRef(false);
  // Return focus to the button.
  useEffect(() => {
    if (wasBusy.current && !isBusy) button.current?.focus();
    wasBusy.current = isBusy;
  }, [isBusy]);
  const { name, isListed } = entry;
  if (isEditing)
    return (
      <Editor
        {...props}
        close={() => setEditing(false)}
        mergeWith={(other) => {
          setEditing(false);
          setPartner(other);
        }}
      />
    );
  return (
    <span class="entry-name">
      <span title={name}>{name}</span>
      {!isListed && <Badge>not listed</Badge>}
      {canEdit.value && (
        <button ref={button} type="button" class="quiet" aria-label={`Rename ${name}`} onClick={() => setEditing(true)}>
          Rename
        </button>
      )}
      {partner && <MergeDialog {...props} partnerID={partner.id} close={() => setPartner(undefined)} />}
    </span>
  );
};
