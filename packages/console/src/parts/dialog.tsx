/** A modal dialog. Escape and clicks outside close it. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export const Dialog = ({ title, close, class: name = '', children }: DialogProps) => {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  // A layout effect, so that the next key press already goes to the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => (before instanceof HTMLElement ? before.focus() : undefined);
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog, too.
    <dialog
      ref={dialog}
      class={`dialog ${name}`}
      aria-labelledby={id}
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <div class="dialog-content">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
};
