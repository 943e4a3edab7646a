import { useState } from 'preact/hooks';
import { api, problemOf } from '../../api.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { Field } from '../../parts/field.tsx';
import { act } from '../../parts/notices.tsx';
import { account, readAccount } from '../../reading/account.ts';
import { type AttrType, type Entry, type Kind, kinds, requestFor, withArticle } from './entries.ts';
import { emptyDraft, problemIn, toAddition, trimmed, typeOptions } from './new-entry.ts';

const idHint = (kind: Kind): string =>
  kind === 'event'
    ? 'A whole number. Leave it empty to use the next free number.'
    : 'The ID that your code sends. It can’t be changed later.';

interface AddProps {
  readonly kind: Kind;
  readonly entries: readonly Entry[];
}

const AddDialog = ({ kind, entries, close }: AddProps & { readonly close: () => void }) => {
  const [draft, setDraft] = useState(emptyDraft);
  const [problem, setProblem] = useState('');
  const { singular, description } = kinds[kind];
  const isEvent = kind === 'event';
  const submit = async () => {
    const entry = trimmed(draft);
    const invalid = problemIn(kind, entry, entries);
    if (invalid) return setProblem(invalid);
    const attempt = api.updateAccount(requestFor(kind, entry.id, toAddition(kind, entry)));
    const rejection = await problemOf(attempt);
    if (rejection) return setProblem(rejection);
    close();
    // The service assigns an ID to an event added without one.
    const assignedID = () => account.peek()?.event.find(({ eventName }) => eventName === entry.name)?.eventID;
    await act(() => attempt, {
      done: `Added the ${singular} “${entry.name || entry.id}”.`,
      undo: () => api.updateAccount(requestFor(kind, entry.id || String(assignedID()), { remove: true })),
      refresh: readAccount,
    });
  };
  const fields = [
    <Field key="name" label="Name" hint={isEvent ? undefined : 'Shown instead of the ID.'}>
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
      <p class="soft">{description}</p>
      {isEvent ? fields : fields.toReversed()}
      {kind === 'attr' && (
        <Field label="Type" hint="How values are displayed. They are stored as text.">
          {(attributes) => (
            <select
              {...attributes}
              value={draft.type}
              onChange={({ currentTarget: { value } }) => setDraft({ ...draft, type: value as AttrType })}
            >
              {typeOptions.map(([type, label]) => (
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

export const AddEntry = ({ kind, entries }: AddProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Add…
      </button>
      {isOpen && <AddDialog kind={kind} entries={entries} close={() => setOpen(false)} />}
    </>
  );
};
