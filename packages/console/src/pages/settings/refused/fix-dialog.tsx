/** Corrects refused requests in a form, and sends them. */
import { useState } from 'preact/hooks';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { Field } from '../../../parts/field.tsx';
import { type Cause, leavesOf, maxLengthIn, type Path, pathOf, typedAs, valueAt } from './causes.ts';
import type { RefusedRequest } from './request.ts';
import { fixOf, sendAll } from './sending.ts';

interface FixDialogProps {
  readonly cause: Cause;
  readonly done: (outcome: Awaited<ReturnType<typeof sendAll>>) => void;
  readonly close: () => void;
}

const labelOf = (path: Path): string =>
  path.map((part) => (typeof part === 'number' ? `#${part + 1}` : part)).join(' › ');

/** The fields to show: of one request all, of several the one that is wrong in each. */
const pathsOf = ({ requests }: Cause): Path[] => {
  const [first] = requests as readonly [RefusedRequest];
  const wrong = pathOf(first.problem.field);
  const isField = wrong.length > 0 && typeof first.request === 'object';
  if (requests.length > 1) return isField ? [wrong] : [];
  const all = leavesOf(first.request).filter((path) => labelOf(path) !== labelOf(wrong));
  return isField ? [wrong, ...all] : all;
};

export const FixDialog = ({ cause, done, close }: FixDialogProps) => {
  const { requests, why, what } = cause;
  const [first] = requests as readonly [RefusedRequest];
  const maxLength = maxLengthIn(first);
  const [cuts, setCuts] = useState(maxLength !== undefined);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const paths = pathsOf(cause);
  const textAt = (request: RefusedRequest, path: Path): string => {
    const value = valueAt(request.request, path);
    return typeof value === 'object' || value === undefined ? '' : String(value);
  };
  const fix = (one: RefusedRequest) => {
    const wrong = pathOf(one.problem.field);
    return fixOf(
      one,
      paths.flatMap((path, nth) => {
        const isWrong = nth === 0 && wrong.length > 0;
        const target = isWrong ? wrong : path;
        if (isWrong && cuts) return [[target, textAt(one, target).slice(0, maxLength)] as const];
        const text = values[labelOf(path)];
        return text === undefined ? [] : [[target, typedAs(valueAt(one.request, target), text)] as const];
      }),
    );
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
      title={`Fix ${what}`}
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
          <input type="checkbox" checked={cuts} onChange={(event) => setCuts(event.currentTarget.checked)} /> Cut it to{' '}
          {maxLength} characters
        </label>
      )}
      {paths.map((path, nth) =>
        nth === 0 && cuts ? null : (
          <Field key={labelOf(path)} label={labelOf(path)} hint={nth === 0 ? why : undefined}>
            {(attributes) => (
              <input
                {...attributes}
                value={values[labelOf(path)] ?? textAt(first, path)}
                onInput={(event) => setValues({ ...values, [labelOf(path)]: event.currentTarget.value })}
              />
            )}
          </Field>
        ),
      )}
      {paths.length === 0 && <p>They are sent again unchanged: first change the setting that refused them.</p>}
    </DialogForm>
  );
};
