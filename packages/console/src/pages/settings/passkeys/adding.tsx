/** Adds a passkey, under a name. */
import { useState } from 'preact/hooks';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { Problem } from '../../../parts/small.tsx';
import { addPasskey } from './own.ts';

interface AddProps {
  readonly added: () => void;
}

const AddDialog = ({ added, close }: AddProps & { readonly close: () => void }) => {
  const [name, setName] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    const why = await addPasskey(name);
    setBusy(false);
    setProblem(why);
    if (why) return;
    close();
    added();
  };
  return (
    <Dialog title="Add a passkey" close={close}>
      <form class="stacked" onSubmit={submit}>
        <Field
          label="Name"
          hint="For you: the device or the password manager. Without one, it is named after this browser."
        >
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              maxLength={255}
              placeholder="Phone"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        {problem && <Problem text={problem} />}
        <p class="dialog-actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={isBusy}>
            Add
          </button>
        </p>
      </form>
    </Dialog>
  );
};

export const AddPasskey = ({ added }: AddProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Add a passkey …
      </button>
      {isOpen && <AddDialog added={added} close={() => setOpen(false)} />}
    </>
  );
};
