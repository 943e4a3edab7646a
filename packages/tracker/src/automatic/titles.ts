import { safeDocument } from '../document.ts';
import { guard } from '../guard.ts';

/**
 * Calls back once with the title of a page whose address has just changed: routers set the title later. Waits until the
 * title differs from `oldTitle`, the returned function is called, the page is hidden, or 2 seconds have passed.
 */
export const awaitTitle = (
  oldTitle: string | undefined,
  callback: (title: string) => void,
): ((title: string) => void) => {
  const maxWaitMilliseconds = 2_000;
  let isSettled = false;
  const settle = guard((title: string): void => {
    if (isSettled) return;
    isSettled = true;
    observer.disconnect();
    callback(title);
  });
  const settleNow = (): void => settle(safeDocument.title);
  const check = (): void => {
    if (safeDocument.title !== oldTitle) settleNow();
  };
  const observer = new MutationObserver(check);
  check();
  if (!isSettled) {
    observer.observe(safeDocument.head, { childList: true, characterData: true, subtree: true });
    setTimeout(settleNow, maxWaitMilliseconds);
    // The capture phase runs before the tracker's own listeners, which send the queue.
    addEventListener('pagehide', settleNow, true);
    addEventListener('visibilitychange', settleNow, true);
  }
  return settle;
};
