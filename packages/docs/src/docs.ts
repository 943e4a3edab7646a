/**
 * Enhances the pages, which also work without scripts: fills in the server's address as the reader reached it, adds the
 * search and copy buttons, and restores the chosen example tab.
 */
import { startSearchBox } from './search-box.ts';

const { dataset } = document.documentElement;
const { docs = './', root = '../', search = '' } = dataset;

/** Behind a proxy, only the browser knows the server's public address. */
const fillInRoot = (): void => {
  const address = new URL(root, location.href).href.replace(/\/$/, '');
  for (const element of document.querySelectorAll('[data-root]:not(html)')) element.textContent = address;
};

const addCopyButtons = (): void => {
  // Browsers offer no clipboard on plain HTTP, except on localhost.
  if (!navigator.clipboard) return;
  for (const figure of document.querySelectorAll('figure.code')) {
    const button = document.createElement('button');
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      const blocks = [...figure.querySelectorAll<HTMLElement>('pre')];
      const visible = blocks.find((block) => block.offsetParent !== null);
      await navigator.clipboard.writeText(visible?.textContent ?? '').then(
        () => {
          button.textContent = 'Copied';
        },
        () => {
          button.textContent = 'Copy failed';
        },
      );
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2_000);
    });
    figure.querySelector('figcaption')?.append(button);
  }
};

const storageKey = 'firsthand-docs-form';

const restoreTab = (): void => {
  const tabs = [...document.querySelectorAll<HTMLInputElement>('.tabs input')];
  try {
    const chosen = localStorage.getItem(storageKey);
    for (const tab of tabs) {
      if (tab.value === chosen) tab.checked = true;
      tab.addEventListener('change', () => localStorage.setItem(storageKey, tab.value));
    }
  } catch {
    // If storage is blocked, each page shows its first tab.
  }
};

/** Opens closed `<details>` elements around a link's target, because browsers don't. */
const openDetails = (): void => {
  const target = document.querySelector(':target');
  for (let element = target?.parentElement; element; element = element.parentElement)
    if (element instanceof HTMLDetailsElement) element.open = true;
  target?.scrollIntoView();
};

fillInRoot();
addCopyButtons();
restoreTab();
openDetails();
addEventListener('hashchange', openDetails);
document.querySelector('#menu [aria-current]')?.scrollIntoView({ block: 'nearest' });
const box = document.querySelector<HTMLElement>('.search');
if (box) startSearchBox(box, docs, search);
