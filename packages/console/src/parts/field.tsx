/** A labeled form field with an optional hint and error. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  /** The error's text; '' or absent if there is none. */
  readonly problem?: string | undefined;
  /** Renders the control with these attributes. */
  readonly children: (attributes: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
    readonly 'aria-invalid': boolean;
  }) => ComponentChildren;
}

export const Field = ({ label, hint, problem, children }: FieldProps) => {
  const id = useId();
  const notes = [problem && `${id}-problem`, hint && `${id}-hint`].filter(Boolean);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': notes.join(' ') || undefined, 'aria-invalid': Boolean(problem) })}
      {problem && (
        <p id={`${id}-problem`} class="field-problem" role="alert">
          {problem}
        </p>
      )}
      {hint && (
        <small id={`${id}-hint`} class="soft">
          {hint}
        </small>
      )}
    </div>
  );
};
