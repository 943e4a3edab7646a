/** A dialog with a form, its error, and its buttons. */
import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';
import { Problem } from './small.tsx';

interface DialogFormProps {
  readonly title: string;
  readonly class?: string;
  readonly close: () => void;
  /** The label of the submit button. */
  readonly action: string;
  readonly submit: (fields: FormData) => unknown;
  /** The last error's text; '' or absent if there is none. */
  readonly problem?: string;
  readonly isDisabled?: boolean;
  /** Whether the action can't be undone. */
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
