/**
 * What a script adds to the pages, which are complete without it: the address by which the reader reached this server, the search,
 * buttons that copy code, and the form of the examples that the reader chose before.
 */
import { startSearchBox } from './search-box.ts';

const { dataset } = document.documentElement;
const { docs = './', root = '../', search = '' } = dataset;

/** The server knows where it listens. Behind a proxy, only the reader's own address says where it is reached. */
const fillInRoot = (): void => {
  const address = new URL(root, location.href).href.replace(/\/$/, '');
  for (const place of document.querySelectorAll('[data-root]:not(html)')) place.textContent = address;
};

const addCopyButtons = (): void => {
  // Absent where the page came by plain HTTP from another machine.
  if (!navigator.clipboard) return;
  for (const figure of document.querySelectorAll('figure.code')) {
    const button = document.createElement('button');
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      const blocks = [...figure.querySelectorAll<HTMLElement>('pre')];
      const shown = blocks.find((block) => block.offsetParent !== null);
      await navigator.clipboard.writeText(shown?.textContent ?? '').then(
        () => {
          button.textContent = 'Copied';
        },
        () => {
          button.textContent = 'Not copied';
        },
      );
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2_000);
    });
    figure.querySelector('figcaption')?.append(button);
  }
};

const chosenForm = 'firsthand-docs-form';

const rememberForm = (): void => {
  const forms = [...document.querySelectorAll<HTMLInputElement>('.tabs input')];
  try {
    const chosen = localStorage.getItem(chosenForm);
    for (const form of forms) {
      if (form.value === chosen) form.checked = true;
      form.addEventListener('change', () => localStorage.setItem(chosenForm, form.value));
    }
  } catch {
    // Storage may be blocked: then each page begins with the first form.
  }
};

/** A link to a field inside closed details opens them; browsers don't do it for elements that they contain. */
const openDetails = (): void => {
  const target = document.querySelector(':target');
  for (let element = target?.parentElement; element; element = element.parentElement)
    if (element instanceof HTMLDetailsElement) element.open = true;
  target?.scrollIntoView();
};

fillInRoot();
addCopyButtons();
rememberForm();
openDetails();
addEventListener('hashchange', openDetails);
document.querySelector('#menu [aria-current]')?.scrollIntoView({ block: 'nearest' });
const box = document.querySelector<HTMLElement>('.search');
if (box) startSearchBox(box, docs, search);
