/** Notices at the edge of the page: the result of an action, with a button to undo it. */
import { signal } from '@preact/signals';
import { messageOf } from '../api.ts';

interface Notice {
  readonly text: string;
  readonly undo?: (() => Promise<unknown>) | undefined;
  readonly isProblem?: boolean;
  /** Whether the notice stays until the user closes it or another one replaces it. */
  readonly stays?: boolean | undefined;
  /** How long the notice is visible, unless it stays. */
  readonly visibleMs?: number;
}

const notice = signal<Notice | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;
const defaultVisibleMs = 12_000;
const recheckMs = 2_000;

export const show = (next: Notice): void => {
  clearTimeout(timer);
  notice.value = next;
  if (!next.isProblem && !next.stays) timer = setTimeout(leave, next.visibleMs ?? defaultVisibleMs);
};
export const hideNotice = (): void => {
  clearTimeout(timer);
  notice.value = undefined;
};
/** Hides the notice, but not while the pointer or the focus is on it. */
const leave = (): void => {
  if (document.querySelector('.notice:is(:hover, :focus-within)')) timer = setTimeout(leave, recheckMs);
  else hideNotice();
};

interface Outcome {
  /** The notice's text. */
  readonly done: string;
  /** Absent if the action can't be undone or changed nothing. */
  readonly undo?: (() => Promise<unknown>) | undefined;
  /** Whether the notice stays until the user closes it or another one replaces it. */
  readonly stays?: boolean;
  /** Runs after the action and after its undo. */
  readonly refresh?: () => unknown;
}

/** Runs an action, reports it, and offers to undo it. Returns whether it succeeded. */
export const act = async <Result,>(
  action: () => Promise<Result>,
  outcome: Outcome | ((result: Result) => Outcome),
): Promise<boolean> => {
  let result: Result;
  try {
    result = await action();
  } catch (error) {
    show({ text: messageOf(error), isProblem: true });
    return false;
  }
  const { done, undo, refresh, stays } = typeof outcome === 'function' ? outcome(result) : outcome;
  show({
    text: done,
    stays,
    undo: undo && (() => act(undo, { done: 'Undone.', ...(refresh && { refresh }) })),
  });
  try {
    await refresh?.();
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
              // Replaces the button, so that it can't be pressed twice.
              show({ text: 'Undoing…', stays: true });
              undo?.();
            }}
          >
            Undo
          </button>
        )}
        <button type="button" class="quiet" aria-label="Close" onClick={hideNotice}>
          ×
        </button>
      </div>
    )}
  </div>
);
