/** Sends a refused request again, as it was or with other fields. */
import { useState } from 'preact/hooks';
import { api } from '../../../api.ts';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { Field } from '../../../parts/field.tsx';
import { act } from '../../../parts/notices.tsx';
import { type RefusedRequest, textOf } from './request.ts';

interface SendProps {
  readonly refused: RefusedRequest;
  readonly again: () => void;
}

type Fields = Record<string, unknown>;

/** The fields that a text holds; undefined if it is no object. */
const fieldsIn = (text: string): Fields | undefined => {
  try {
    const fields: unknown = JSON.parse(text);
    return typeof fields === 'object' && fields !== null && !Array.isArray(fields) ? (fields as Fields) : undefined;
  } catch {
    return undefined;
  }
};

/** Sends it. Rejects with why it was refused again. */
const send = async (refusedID: string, fix?: Fields): Promise<void> => {
  const { replayed, problem } = await api.replayRefused({ refusedID, fix });
  if (!replayed) throw new Error(problem?.message ?? 'It was refused again.');
};

const FixDialog = ({ refused, again, close }: SendProps & { readonly close: () => void }) => {
  const [changed, setChanged] = useState(textOf(refused));
  const [problem, setProblem] = useState('');
  const submit = async () => {
    const fix = fieldsIn(changed);
    if (fix === undefined) return setProblem('This isn’t a valid JSON object.');
    try {
      await send(refused.refusedID, fix);
    } catch (error) {
      return setProblem((error as Error).message);
    }
    close();
    again();
  };
  return (
    <DialogForm title={`Fix the ${refused.operation}`} close={close} action="Send" submit={submit} problem={problem}>
      <p class="soft">{refused.problem.message}</p>
      <Field
        label="The request"
        hint="Deleting a field here leaves it unchanged. To clear it, set it to an empty text."
      >
        {(attributes) => (
          <textarea
            {...attributes}
            rows={12}
            spellcheck={false}
            value={changed}
            onInput={(event) => setChanged(event.currentTarget.value)}
          />
        )}
      </Field>
    </DialogForm>
  );
};

export const SendAgain = ({ refused, again }: SendProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <p class="refused-actions">
      <button
        type="button"
        onClick={() => act(() => send(refused.refusedID), { done: 'Sent and stored.', after: again })}
      >
        Send again
      </button>
      <button type="button" class="quiet" onClick={() => setOpen(true)}>
        Fix and send …
      </button>
      {isOpen && <FixDialog refused={refused} again={again} close={() => setOpen(false)} />}
    </p>
  );
};
