/**
 * The address, as signals. Everything that decides what is seen is in it: the page as the last part of the path, and the rest in the
 * query. All pages are at one level below `console/`, so that the same relative URLs lead to the assets and to the API from each.
 */
import { computed, signal } from '@preact/signals';

const current = signal(new URL(location.href));

/** The name of the page: `people` for `…/console/people?…`; '' for the first one. */
export const pageName = computed(() => current.value.pathname.replace(/^.*\/console\//, ''));

/** The query parameters that are there. */
export const query = computed(() => current.value.searchParams);

const { pathname } = current.peek();
/** The URL below which the service is reached, without a slash at its end. The page of a share link is one level deeper than others. */
export const root = new URL(pathname.replace(/\/console(\/shared)?(\/[^/]*)?$/, '/'), location.href).href.replace(
  /\/$/,
  '',
);

/** The secret of the share link whose page this is. */
export const shareSecret = /\/console\/shared\/([^/]+)$/.exec(pathname)?.[1];

/** Whether other machines can't open this address. */
export const isOnThisMachine = (): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname);

export type Changes = Readonly<Record<string, string | null | undefined>>;

const changed = (before: URLSearchParams, changes: Changes): string => {
  const after = new URLSearchParams(before);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === '') after.delete(name);
    else after.set(name, value);
  }
  const text = after.toString();
  return text && `?${text}`;
};

/** The parameters that go with the reader from page to page. */
const lasting = ['account', 'range', 'from', 'to', 'compare', 'filter'];

/** The address of a page, with what is seen of all pages (the range, the filter) as it is now. */
export const hrefOf = (page: string, parameters: Changes = {}): string => {
  const kept = new URLSearchParams([...query.value].filter(([name]) => lasting.includes(name)));
  return (page || './') + changed(kept, parameters);
};

/** The address of a page with this query, in the account that is open. */
export const hrefOfQuery = (page: string, text: string): string =>
  (page || './') + changed(new URLSearchParams(text), { account: query.value.get('account') });

/** The address of this page with some parameters changed. */
export const hrefWith = (changes: Changes): string => {
  const page = shareSecret === undefined ? pageName.value || './' : '';
  return page + changed(query.value, changes);
};

/** Shows a page in the one of a share link, whose address stays. Nothing else in that address counts: who sends it on could write it. */
export const showHere = (page: string, text: string): void => {
  current.value = new URL(`${root}/console/${page}?${text}`);
};

const arrive = (): void => {
  current.value = new URL(location.href);
};

/** Goes to an address of the console, as a link does; with `replace` in place of the present one. */
export const go = (href: string, { replace = false } = {}): void => {
  const to = new URL(href, location.href);
  const from = current.peek();
  if (shareSecret !== undefined) {
    current.value = new URL(to.search, from);
    return;
  }
  if (to.href === from.href) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  arrive();
  if (to.pathname === from.pathname) return;
  // When the next page is there: either would make the browser lay out the one that goes.
  requestAnimationFrame(() => {
    scrollTo(0, 0);
    // As after a page was loaded: the next Tab, and a screen reader, begin at its content.
    document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
  });
};

/** Changes parameters of this page. */
export const setQuery = (changes: Changes, options?: { readonly replace?: boolean }): void =>
  go(hrefWith(changes), options);

const isPlain = ({ button, altKey, ctrlKey, metaKey, shiftKey }: MouseEvent): boolean =>
  button === 0 && !altKey && !ctrlKey && !metaKey && !shiftKey;

/** Follows links between pages of the console without loading it again. */
export const followLinks = (): void => {
  if (shareSecret === undefined) addEventListener('popstate', arrive);
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null;
    if (!link || event.defaultPrevented || !isPlain(event) || link.target || link.hasAttribute('download')) return;
    const here = new URL('.', location.href).href;
    if (!link.href.startsWith(here)) return;
    event.preventDefault();
    go(link.href);
  });
};
