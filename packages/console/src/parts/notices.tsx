/** Short messages at the edge of the page: what was done, with a way to undo it. */
import { signal } from '@preact/signals';
import { messageOf } from '../api.ts';

interface Notice {
  readonly text: string;
  readonly undo?: (() => Promise<unknown>) | undefined;
  readonly isProblem?: boolean;
  /** Until it is closed, or another one takes its place. */
  readonly stays?: boolean | undefined;
}

const notice = signal<Notice | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;
const shownMs = 12_000;

export const show = (shown: Notice): void => {
  clearTimeout(timer);
  notice.value = shown;
  if (!shown.isProblem && !shown.stays) timer = setTimeout(hide, shownMs);
};
const hide = (): void => {
  notice.value = undefined;
};

interface Outcome {
  /** What was done. */
  readonly done: string;
  /** Absent: it can't be undone, or there is nothing to undo. */
  readonly undo?: (() => Promise<unknown>) | undefined;
  /** Whether the offer to undo it stays until the next action. */
  readonly stays?: boolean;
  /** Runs when it, or its undoing, is done. */
  readonly after?: () => unknown;
}

/** Does something, says so, and offers to undo it. Returns whether it was done. */
export const act = async <Result,>(
  does: () => Promise<Result>,
  outcome: Outcome | ((result: Result) => Outcome),
): Promise<boolean> => {
  let result: Result;
  try {
    result = await does();
  } catch (error) {
    show({ text: messageOf(error), isProblem: true });
    return false;
  }
  const { done, undo, after, stays } = typeof outcome === 'function' ? outcome(result) : outcome;
  show({
    text: done,
    stays,
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
              show({ text: 'Undoing …', stays: true });
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
