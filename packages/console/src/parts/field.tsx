/** A labeled form field with an optional hint. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  /** Renders the control with these attributes. */
  readonly children: (attributes: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
  }) => ComponentChildren;
}

export const Field = ({ label, hint, children }: FieldProps) => {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': hint && `${id}-hint` })}
      {hint && (
        <small id={`${id}-hint`} class="soft">
          {hint}
        </small>
      )}
    </div>
  );
};
