/** The name of an entry, edited in place: Enter saves, Escape leaves it as it was. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Badge } from '../../parts/small.tsx';
import { mayChange } from '../../reading/account.ts';
import { rename } from './changing.ts';
import type { Entry, Kind } from './entries.ts';

interface EditorProps {
  readonly name: string;
  readonly save: (name: string) => void;
  readonly close: () => void;
}

const Editor = ({ name, save, close }: EditorProps) => {
  const [text, setText] = useState(name);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    if (text.trim() !== '' && text.trim() !== name) save(text.trim());
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
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && close()}
      />
      <button type="submit">Save</button>
      <button type="button" class="quiet" onClick={close}>
        Cancel
      </button>
    </form>
  );
};

export const Name = ({ kind, entry }: { readonly kind: Kind; readonly entry: Entry }) => {
  const [isEditing, setEditing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  // The keyboard goes on where it was before.
  useEffect(() => {
    if (wasEditing.current && !isEditing) button.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  const { name, isListed } = entry;
  if (isEditing)
    return <Editor name={name} save={(text) => rename(kind, entry, text)} close={() => setEditing(false)} />;
  return (
    <span class="entry-name">
      <span>{name}</span>
      {!isListed && <Badge>not listed</Badge>}
      {mayChange.value && (
        <button ref={button} type="button" class="quiet" aria-label={`Rename ${name}`} onClick={() => setEditing(true)}>
          Rename
        </button>
      )}
    </span>
  );
};
