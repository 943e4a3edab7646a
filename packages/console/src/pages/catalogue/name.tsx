/** The name of an entry, edited in place: Enter saves, Escape leaves it as it was. */
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Badge } from '../../parts/small.tsx';
import { mayChange } from '../../reading/account.ts';
import { rename } from './changing.ts';
import { type Entry, type Kind, namesake, takenBy } from './entries.ts';
import { MergeDialog } from './merging.tsx';

interface NameProps {
  readonly kind: Kind;
  readonly entry: Entry;
  /** All entries of the catalogue. */
  readonly entries: readonly Entry[];
}

interface EditorProps extends NameProps {
  readonly close: () => void;
  readonly mergeWith: (other: Entry) => void;
}

const Editor = ({ kind, entry, entries, close, mergeWith }: EditorProps) => {
  const { name } = entry;
  const problemID = useId();
  const [taken, setTaken] = useState<Entry | undefined>(undefined);
  const [text, setText] = useState(name);
  const input = useRef<HTMLInputElement>(null);
  // Before the next key arrives.
  useLayoutEffect(() => input.current?.select(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    const given = text.trim();
    const other = given === name ? undefined : namesake(given, entries, entry);
    if (other) return setTaken(other);
    if (given !== '' && given !== name) rename(kind, entry, given);
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
        aria-invalid={taken !== undefined}
        aria-describedby={taken && problemID}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setTaken(undefined);
        }}
        onKeyDown={(event) => event.key === 'Escape' && close()}
      />
      <button type="submit">Save</button>
      <button type="button" class="quiet" onClick={close}>
        Cancel
      </button>
      {taken && (
        <p id={problemID} class="field-problem" role="alert">
          {takenBy(kind, taken)}{' '}
          {entry.isListed && entry.merged.length === 0 && (
            <button type="button" onClick={() => mergeWith(taken)}>
              Merge them …
            </button>
          )}
        </p>
      )}
    </form>
  );
};

export const Name = (props: NameProps) => {
  const { entry } = props;
  const [partner, setPartner] = useState<Entry | undefined>(undefined);
  const [isEditing, setEditing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const isBusy = isEditing || partner !== undefined;
  const wasBusy = useRef(false);
  // The keyboard goes on where it was before.
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
      {mayChange.value && (
        <button ref={button} type="button" class="quiet" aria-label={`Rename ${name}`} onClick={() => setEditing(true)}>
          Rename
        </button>
      )}
      {partner && <MergeDialog {...props} partnerID={partner.id} close={() => setPartner(undefined)} />}
    </span>
  );
};
