/** What a program can see of a page: sideways scrolling, parts that move while the page fills, and texts that are cut. */
import type { Page } from 'playwright-core';

/** More than this is seen as a jump (the sum of layout shifts, as web.dev/cls defines them). */
const maxShift = 0.02;

export const watchShifts = (page: Page): Promise<unknown> =>
  page.addInitScript(`
    window.shifts = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if (!entry.hadRecentInput)
          shifts.push([entry.value, entry.sources.map(({ node }) => node?.className || node?.nodeName).join(' ')]);
    }).observe({ type: 'layout-shift', buffered: true });
  `);

const look = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const isSeen = (element) => element.getClientRects().length > 0 && !element.closest('.unseen');
  const cut = [...document.querySelectorAll('main *, dialog *')].filter((element) =>
    isSeen(element) && element.childElementCount === 0 && element.scrollWidth > element.clientWidth + 1 &&
    getComputedStyle(element).overflowX !== 'visible');
  const beside = [...document.querySelectorAll('main *, header *')].filter((element) => {
    const { right, width } = element.getBoundingClientRect();
    return isSeen(element) && width > 1 && right > clientWidth + 1;
  });
  return {
    wide: scrollWidth - clientWidth,
    cut: cut.map(({ textContent }) => textContent.slice(0, 30)),
    beside: beside.map(({ className, nodeName }) => String(className || nodeName)),
    shifts: window.shifts ?? [],
  };
})()`;

interface Seen {
  readonly wide: number;
  readonly cut: readonly string[];
  readonly beside: readonly string[];
  readonly shifts: readonly (readonly [value: number, of: string])[];
}

/** The faults of a page, in words. */
export const findingsOf = async (page: Page): Promise<string[]> => {
  const { wide, cut, beside, shifts } = await page.evaluate<Seen>(look);
  const shift = shifts.reduce((sum, [value]) => sum + value, 0);
  const moved = shifts.filter(([value]) => value > maxShift / 4).map(([, of]) => of);
  return [
    ...(wide > 0 ? [`scrolls sideways by ${wide}px`] : []),
    ...(beside.length > 0 ? [`beyond the edge: ${[...new Set(beside)].slice(0, 5).join(', ')}`] : []),
    ...(cut.length > 0 ? [`cut: ${[...new Set(cut)].slice(0, 5).join(' | ')}`] : []),
    ...(shift > maxShift ? [`moves by ${shift.toFixed(3)}: ${[...new Set(moved)].slice(0, 4).join(', ')}`] : []),
  ];
};
