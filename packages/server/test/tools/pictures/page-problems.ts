/** Finds visual problems on a page: horizontal scrolling, layout shifts while the page loads, and truncated text. */
import type { Page } from 'playwright-core';

/** The largest sum of layout shifts (web.dev/cls) that is not visible as a jump. */
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

const findingsScript = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const isVisible = (element) => element.getClientRects().length > 0 && !element.closest('.unseen');
  const cut = [...document.querySelectorAll('main *, dialog *')].filter((element) =>
    isVisible(element) && element.childElementCount === 0 && element.scrollWidth > element.clientWidth + 1 &&
    getComputedStyle(element).overflowX !== 'visible');
  const overflowing = [...document.querySelectorAll('main *, header *')].filter((element) => {
    const { right, width } = element.getBoundingClientRect();
    return isVisible(element) && width > 1 && right > clientWidth + 1;
  });
  return {
    wide: scrollWidth - clientWidth,
    cut: cut.map(({ textContent }) => textContent.slice(0, 30)),
    overflowing: overflowing.map(({ className, nodeName }) => String(className || nodeName)),
    shifts: window.shifts ?? [],
  };
})()`;

interface PageFindings {
  readonly wide: number;
  readonly cut: readonly string[];
  readonly overflowing: readonly string[];
  readonly shifts: readonly (readonly [value: number, of: string])[];
}

/** Describes the problems on a page. */
export const findPageProblems = async (page: Page): Promise<string[]> => {
  const { wide, cut, overflowing, shifts } = await page.evaluate<PageFindings>(findingsScript);
  const shift = shifts.reduce((sum, [value]) => sum + value, 0);
  const movedParts = shifts.filter(([value]) => value > maxShift / 4).map(([, of]) => of);
  return [
    ...(wide > 0 ? [`scrolls sideways by ${wide}px`] : []),
    ...(overflowing.length > 0 ? [`beyond the edge: ${[...new Set(overflowing)].slice(0, 5).join(', ')}`] : []),
    ...(cut.length > 0 ? [`cut: ${[...new Set(cut)].slice(0, 5).join(' | ')}`] : []),
    ...(shift > maxShift ? [`moves by ${shift.toFixed(3)}: ${[...new Set(movedParts)].slice(0, 4).join(', ')}`] : []),
  ];
};
