/** Adds an entry to a catalogue. */
import { useState } from 'preact/hooks';
import { api, problemOf } from '../../api.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { Field } from '../../parts/field.tsx';
import { act } from '../../parts/notices.tsx';
import { account, readAccount } from '../../reading/account.ts';
import { type AttrType, type Entry, type Kind, kinds, requestFor, withArticle } from './entries.ts';
import { additionOf, emptyDraft, problemIn, trimmed, typesInOrder } from './new-entry.ts';

const idHint = (kind: Kind): string =>
  kind === 'event'
    ? 'A whole number. Without one, the service gives the next free number.'
    : 'As your code sends it. It cannot be changed later.';

interface AddProps {
  readonly kind: Kind;
  readonly entries: readonly Entry[];
}

const AddDialog = ({ kind, entries, close }: AddProps & { readonly close: () => void }) => {
  const [draft, setDraft] = useState(emptyDraft);
  const [problem, setProblem] = useState('');
  const { one, about } = kinds[kind];
  const isEvent = kind === 'event';
  const submit = async () => {
    const given = trimmed(draft);
    const found = problemIn(kind, given, entries);
    if (found) return setProblem(found);
    const attempt = api.updateAccount(requestFor(kind, given.id, additionOf(kind, given)));
    const refused = await problemOf(attempt);
    if (refused) return setProblem(refused);
    close();
    // The service gave an ID to an event without one.
    const idGiven = () => account.peek()?.event.find(({ eventName }) => eventName === given.name)?.eventID;
    await act(() => attempt, {
      done: `Added the ${one} “${given.name || given.id}”.`,
      undo: () => api.updateAccount(requestFor(kind, given.id || String(idGiven()), { remove: true })),
      after: readAccount,
    });
  };
  const fields = [
    <Field key="name" label="Name" hint={isEvent ? undefined : 'For people. Without one, the ID is shown.'}>
      {(attributes) => (
        <input
          {...attributes}
          type="text"
          maxLength={255}
          value={draft.name}
          onInput={({ currentTarget: { value: name } }) => setDraft({ ...draft, name })}
        />
      )}
    </Field>,
    <Field key="id" label={isEvent ? 'ID (optional)' : 'ID'} hint={idHint(kind)}>
      {(attributes) => (
        <input
          {...attributes}
          type="text"
          inputMode={isEvent ? 'numeric' : 'text'}
          autocomplete="off"
          spellcheck={false}
          value={draft.id}
          onInput={({ currentTarget: { value: id } }) => setDraft({ ...draft, id })}
        />
      )}
    </Field>,
  ];
  return (
    <DialogForm title={`Add ${withArticle(kind)}`} close={close} action="Add" submit={submit} problem={problem}>
      <p class="soft">{about}</p>
      {isEvent ? fields : fields.toReversed()}
      {kind === 'attr' && (
        <Field label="Type" hint="What its values mean, for people. They are stored as text.">
          {(attributes) => (
            <select
              {...attributes}
              value={draft.type}
              onChange={({ currentTarget: { value } }) => setDraft({ ...draft, type: value as AttrType })}
            >
              {typesInOrder.map(([type, label]) => (
                <option key={type} value={type}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
    </DialogForm>
  );
};

export const Add = ({ kind, entries }: AddProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Add …
      </button>
      {isOpen && <AddDialog kind={kind} entries={entries} close={() => setOpen(false)} />}
    </>
  );
};
