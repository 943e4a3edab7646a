/** Saves the page that is open under a name. */
import { useState } from 'preact/hooks';
import { api, problemOf } from '../../api.ts';
import { viewHere } from '../../reading/views.ts';
import { DialogForm } from '../dialog-form.tsx';
import { Field } from '../field.tsx';
import { show } from '../notices.tsx';

interface SaveViewProps {
  /** The names of the views that there are. */
  readonly taken: readonly string[];
  readonly saved: () => void;
  readonly close: () => void;
}

export const SaveView = ({ taken, saved, close }: SaveViewProps) => {
  const [viewName, setName] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const isTaken = taken.includes(viewName.trim());
  const submit = async () => {
    setBusy(true);
    const failed = await problemOf(api.createView({ viewName, ...viewHere() }));
    setBusy(false);
    if (failed) return setProblem(failed);
    close();
    saved();
    show({ text: `Saved the view “${viewName.trim()}”.` });
  };
  return (
    <DialogForm
      title="Save this view"
      close={close}
      action={isTaken ? 'Replace' : 'Save'}
      submit={submit}
      problem={problem}
      isDisabled={isBusy}
    >
      <Field
        label="Name"
        hint={
          isTaken
            ? 'A view has this name. This page takes its place.'
            : 'Everyone in the account can open it. A range such as “Last 7 days” moves on.'
        }
      >
        {(attributes) => (
          <input
            {...attributes}
            required
            maxLength={255}
            autocomplete="off"
            value={viewName}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
    </DialogForm>
  );
};
