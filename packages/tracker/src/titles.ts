import { safeDocument } from './document.ts';
import { guard } from './guard.ts';

/**
 * Calls back once with the title of a page whose address has just changed. Routers set the title with what they show, some time
 * after the address. So the title is right when it is no longer `oldTitle`; when the next address comes (`settle`, with the title that
 * the page had until then); when the page is hidden; or after 2 seconds, because two pages may have the same title.
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
    // Both are heard ahead of the tracker's own listeners, which send what is there.
    addEventListener('pagehide', settleNow, true);
    addEventListener('visibilitychange', settleNow, true);
  }
  return settle;
};
