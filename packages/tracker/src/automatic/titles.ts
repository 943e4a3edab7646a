import { safeDocument } from '../document.ts';
import { guard } from '../guard.ts';

/**
 * Calls back once with the title of a page whose address has just changed. Routers set the title some time after the address, with
 * the content. So this waits until the title is not `oldTitle`, until the address changes again (the returned function is called
 * with the title until then), until the page is hidden, or for 2 seconds, because two pages may have the same title.
 */
export const awaitTitle = (
  oldTitle: string | undefined,
  callback: (title: string) => void,
): ((title: string) => void) => {
  const longestMilliseconds = 2_000;
  let isSettled = false;
  const settle = guard((title: string): void => {
    if (isSettled) return;
    isSettled = true;
    observer.disconnect();
    callback(title);
  });
  const settleNow = (): void => settle(safeDocument.title);
  const look = (): void => {
    if (safeDocument.title !== oldTitle) settleNow();
  };
  const observer = new MutationObserver(look);
  look();
  if (!isSettled) {
    observer.observe(safeDocument.head, { childList: true, characterData: true, subtree: true });
    setTimeout(settleNow, longestMilliseconds);
    // Both listeners run before the tracker's own, which send the queue.
    addEventListener('pagehide', settleNow, true);
    addEventListener('visibilitychange', settleNow, true);
  }
  return settle;
};
