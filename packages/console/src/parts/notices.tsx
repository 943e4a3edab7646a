/** Short messages at the edge of the page: what was done, with a way to undo it. */
import { signal } from '@preact/signals';
import { messageOf } from '../api.ts';

interface Notice {
  readonly text: string;
  readonly undo?: (() => Promise<unknown>) | undefined;
  readonly isProblem?: boolean;
}

const notice = signal<Notice | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;
const shownMs = 12_000;

export const show = (shown: Notice): void => {
  clearTimeout(timer);
  notice.value = shown;
  if (!shown.isProblem) timer = setTimeout(hide, shownMs);
};
const hide = (): void => {
  notice.value = undefined;
};

/** Does something, says so, and offers to undo it. `after` runs when it, or its undoing, is done. Returns whether it was done. */
export const act = async (
  does: () => Promise<unknown>,
  {
    done,
    undo,
    after,
  }: { readonly done: string; readonly undo?: (() => Promise<unknown>) | undefined; readonly after?: () => unknown },
): Promise<boolean> => {
  try {
    await does();
  } catch (error) {
    show({ text: messageOf(error), isProblem: true });
    return false;
  }
  show({
    text: done,
    undo: undo && (() => act(undo, { done: 'Undone.', ...(after && { after }) })),
  });
  try {
    await after?.();
  } catch (error) {
    show({ text: messageOf(error), isProblem: true });
  }
  return true;
};

export const Notices = () => (
  <div class="notices" aria-live="polite">
    {notice.value && (
      <div class={notice.value.isProblem ? 'notice notice-problem' : 'notice'}>
        <span>{notice.value.text}</span>
        {notice.value.undo && (
          <button
            type="button"
            onClick={() => {
              const { undo } = notice.value ?? {};
              // Once: the button is gone while it is undone.
              hide();
              undo?.();
            }}
          >
            Undo
          </button>
        )}
        <button type="button" class="quiet" aria-label="Close" onClick={hide}>
          ×
        </button>
      </div>
    )}
  </div>
);
