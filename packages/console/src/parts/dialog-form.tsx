/** A dialog with a form: its fields, why what was sent did not do, and the ways out. */
import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';
import { Problem } from './small.tsx';

interface DialogFormProps {
  readonly title: string;
  readonly class?: string;
  readonly close: () => void;
  /** What the button that submits says. */
  readonly action: string;
  readonly submit: (fields: FormData) => unknown;
  /** Why it did not do; '' or absent: it did, or was not tried. */
  readonly problem?: string;
  readonly isDisabled?: boolean;
  /** Whether the action cannot be undone. */
  readonly isDanger?: boolean;
  readonly children: ComponentChildren;
}

export const DialogForm = ({
  title,
  class: name = '',
  close,
  action,
  submit,
  problem,
  isDisabled = false,
  isDanger = false,
  children,
}: DialogFormProps) => (
  <Dialog title={title} close={close} class={name}>
    <form
      class="stacked"
      onSubmit={(event) => {
        event.preventDefault();
        submit(new FormData(event.currentTarget));
      }}
    >
      {children}
      {problem && <Problem text={problem} />}
      <p class="dialog-actions">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" class={isDanger ? 'danger' : 'main'} disabled={isDisabled}>
          {action}
        </button>
      </p>
    </form>
  </Dialog>
);
