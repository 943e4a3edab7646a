/** The dialog that saves the current page as a view. */
import { useState } from 'preact/hooks';
import { api, problemOf } from '../../api.ts';
import { readCurrentView } from '../../reading/views.ts';
import { DialogForm } from '../dialog-form.tsx';
import { Field } from '../field.tsx';
import { show } from '../notices.tsx';

interface SaveViewProps {
  /** The names of existing views. */
  readonly existingNames: readonly string[];
  readonly onSave: () => void;
  readonly close: () => void;
}

export const SaveView = ({ existingNames, onSave, close }: SaveViewProps) => {
  const [viewName, setName] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const isTaken = existingNames.includes(viewName.trim());
  const submit = async () => {
    setBusy(true);
    const failure = await problemOf(api.createView({ viewName, ...readCurrentView() }));
    setBusy(false);
    if (failure) return setProblem(failure);
    close();
    onSave();
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
            ? 'A view with this name already exists and will be replaced.'
            : 'Everyone in the account can open it. A range such as “Last 7 days” stays relative to today.'
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
