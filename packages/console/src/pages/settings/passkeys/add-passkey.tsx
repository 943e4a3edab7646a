/** The dialog that adds a passkey. */
import { useState } from 'preact/hooks';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { Field } from '../../../parts/field.tsx';
import { addPasskey } from './credentials.ts';

interface AddProps {
  readonly onAdd: () => void;
}

const AddDialog = ({ onAdd, close }: AddProps & { readonly close: () => void }) => {
  const [name, setName] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    const failure = await addPasskey(name);
    setBusy(false);
    setProblem(failure);
    if (failure) return;
    close();
    onAdd();
  };
  return (
    <DialogForm title="Add a passkey" close={close} action="Add" submit={submit} problem={problem} isDisabled={isBusy}>
      <Field label="Name" hint="For example, your device or password manager. Defaults to the name of this browser.">
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
    </DialogForm>
  );
};

export const AddPasskey = ({ onAdd }: AddProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Add a passkey…
      </button>
      {isOpen && <AddDialog onAdd={onAdd} close={() => setOpen(false)} />}
    </>
  );
};
