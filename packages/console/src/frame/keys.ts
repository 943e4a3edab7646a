/** Keyboard shortcuts: `g` and a letter opens a page, ⌘K or Ctrl+K opens the palette, `?` lists the shortcuts. */
import { signal } from '@preact/signals';
import { go, hrefOf } from '../address.ts';
import { pages } from './pages.ts';

export const overlay = signal<'palette' | 'keys' | undefined>(undefined);

/** The maximum time between `g` and the letter, in milliseconds. */
const followMs = 1_200;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName));

export const listenForKeys = (): void => {
  let lastG = Number.NEGATIVE_INFINITY;
  addEventListener('keydown', (event) => {
    const { key, metaKey, ctrlKey, altKey, timeStamp } = event;
    if ((metaKey || ctrlKey) && !altKey && key.toLowerCase() === 'k') {
      event.preventDefault();
      overlay.value = 'palette';
      return;
    }
    const isCovered = document.querySelector('dialog[open]') !== null;
    if (metaKey || ctrlKey || altKey || isCovered || isTyping(event.target)) return;
    if (key === '?') overlay.value = 'keys';
    else if (key === '/') {
      event.preventDefault();
      const search = document.querySelector<HTMLElement>('main input[type=search]');
      if (search) search.focus();
      else overlay.value = 'palette';
    } else if (key === 'g') lastG = timeStamp;
    else if (timeStamp - lastG < followMs) {
      lastG = Number.NEGATIVE_INFINITY;
      const page = pages.find((each) => each.key === key);
      if (page) go(hrefOf(page.name));
    }
  });
};

/**
 * Closes the open menu on Escape, and returns focus to its summary. Also closes it when a click or focus lands
 * elsewhere.
 */
export const closeMenus = (): void => {
  const listen = (event: Event): void => {
    const menu = document.querySelector<HTMLDetailsElement>('.menu[open]');
    const isKey = event instanceof KeyboardEvent;
    if (!menu || (isKey ? event.key !== 'Escape' : menu.contains(event.target as Node))) return;
    menu.open = false;
    if (isKey) menu.querySelector('summary')?.focus();
  };
  for (const kind of ['keydown', 'pointerdown', 'focusin']) addEventListener(kind, listen);
};

export const findKey = /Mac|iP/.test(navigator.platform) ? '⌘K' : 'Ctrl K';

export const keyTable = (): readonly (readonly [keys: string, action: string])[] => [
  [findKey, 'Find a page, date range or person'],
  ['/', 'Search on this page'],
  ['?', 'Show shortcuts'],
  ...pages.map(({ key, title }) => [`g ${key}`, title] as const),
];
