/** Adds a passkey, under a name. */
import { useState } from 'preact/hooks';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { Field } from '../../../parts/field.tsx';
import { addPasskey } from './own.ts';

interface AddProps {
  readonly added: () => void;
}

const AddDialog = ({ added, close }: AddProps & { readonly close: () => void }) => {
  const [name, setName] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    const why = await addPasskey(name);
    setBusy(false);
    setProblem(why);
    if (why) return;
    close();
    added();
  };
  return (
    <DialogForm title="Add a passkey" close={close} action="Add" submit={submit} problem={problem} isDisabled={isBusy}>
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
    </DialogForm>
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
