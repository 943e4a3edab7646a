/** A form that corrects refused requests and resends them. */
import { useState } from 'preact/hooks';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { Field } from '../../../parts/field.tsx';
import { account } from '../../../reading/account.ts';
import { shorten } from '../../../reading/format.ts';
import {
  type Cause,
  isEditable,
  labelOf,
  leavesOf,
  maxLengthIn,
  type Path,
  pathOf,
  typedAs,
  valueAt,
} from './causes.ts';
import type { RefusedRequest } from './request.ts';
import { fixOf, sendAll } from './resend.ts';

interface FixDialogProps {
  readonly cause: Cause;
  readonly done: (outcome: Awaited<ReturnType<typeof sendAll>>) => void;
  readonly close: () => void;
}

/** An input of the form. If there are several requests, there is one input for each distinct invalid value. */
interface Input {
  readonly key: string;
  readonly label: string;
  readonly path: Path;
  readonly before: string;
}

const maxInputs = 30;

const textAt = ({ request }: RefusedRequest, path: Path): string => {
  const value = valueAt(request, path);
  return typeof value === 'object' || value === undefined ? '' : String(value);
};

const wrongPathOf = ({ problem, request }: RefusedRequest): Path =>
  typeof request === 'object' ? pathOf(problem.field) : [];

const wrongKey = (text: string): string => `wrong ${text}`;

/** The inputs, beginning with the invalid field. If there is only one request, its other editable fields follow. */
const inputsOf = ({ requests }: Cause): Input[] => {
  const [first] = requests as readonly [RefusedRequest];
  const wrong = wrongPathOf(first);
  if (wrong.length === 0) return [];
  const label = labelOf(first.request, wrong);
  const texts = [...new Set(requests.map((request) => textAt(request, wrongPathOf(request))))];
  const ofWrong = texts.map((before) => ({
    key: wrongKey(before),
    label: texts.length > 1 && before ? `${label} “${shorten(before)}”` : label,
    path: wrong,
    before,
  }));
  const others = leavesOf(first.request).filter((path) => path.join() !== wrong.join() && isEditable(path));
  return [
    ...ofWrong,
    ...(requests.length > 1
      ? []
      : others.map((path) => ({
          key: path.join(),
          label: labelOf(first.request, path),
          path,
          before: textAt(first, path),
        }))),
  ].slice(0, maxInputs);
};

const profiles = () => (account.value?.profile ?? []).filter(({ mergedInto }) => mergedInto === undefined);

export const FixDialog = ({ cause, done, close }: FixDialogProps) => {
  const { requests, why, summary } = cause;
  const [first] = requests as readonly [RefusedRequest];
  const maxLength = maxLengthIn(first);
  const [cuts, setCuts] = useState(maxLength !== undefined);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const inputs = inputsOf(cause);
  const wrongText = wrongPathOf(first).join();
  const fix = (refused: RefusedRequest) => {
    const wrong = wrongPathOf(refused);
    const before = textAt(refused, wrong);
    const fixed = values[wrongKey(before)] ?? (cuts ? before.slice(0, maxLength) : undefined);
    const others = inputs.filter(({ key, path }) => path.join() !== wrongText && values[key] !== undefined);
    return fixOf(refused, [
      ...(fixed === undefined || wrong.length === 0
        ? []
        : [[wrong, typedAs(valueAt(refused.request, wrong), fixed)] as const]),
      ...others.map(({ key, path }) => [path, typedAs(valueAt(refused.request, path), values[key] as string)] as const),
    ]);
  };
  const submit = async () => {
    setBusy(true);
    const outcome = await sendAll(requests, fix);
    setBusy(false);
    if (outcome.done === 0) return setProblem(outcome.problem);
    close();
    done(outcome);
  };
  return (
    <DialogForm
      title={`Fix ${summary}`}
      close={close}
      action={requests.length === 1 ? 'Send' : `Send all ${requests.length}`}
      submit={submit}
      problem={problem}
      isDisabled={isBusy}
    >
      <p class="soft">
        {requests.length === 1 ? 'It was' : 'They were'} refused because {why}.
      </p>
      {maxLength !== undefined && (
        <label>
          <input type="checkbox" checked={cuts} onChange={(event) => setCuts(event.currentTarget.checked)} /> Shorten to{' '}
          {maxLength} characters
        </label>
      )}
      {inputs.map(({ key, label, path, before }) => {
        const isWrong = path.join() === wrongText;
        const shown = values[key] ?? (isWrong && cuts ? before.slice(0, maxLength) : before);
        const set = (text: string) => setValues({ ...values, [key]: text });
        const isForAll = isWrong && before === '' && requests.length > 1;
        return (
          <Field key={key} label={label} hint={isForAll ? 'Applies to all requests.' : undefined}>
            {(attributes) =>
              path.at(-1) === 'contactProfileID' ? (
                <select {...attributes} value={shown} onChange={(event) => set(event.currentTarget.value)}>
                  {!profiles().some(({ profileID }) => profileID === shown) && <option value={shown}>{shown}</option>}
                  {profiles().map(({ profileID, profileName }) => (
                    <option key={profileID} value={profileID}>
                      {profileName}
                    </option>
                  ))}
                </select>
              ) : (
                <input {...attributes} value={shown} onInput={(event) => set(event.currentTarget.value)} />
              )
            }
          </Field>
        );
      })}
      {inputs.length === 0 && (
        <p>These requests will be sent again unchanged. First change the setting that caused the refusal.</p>
      )}
    </DialogForm>
  );
};
