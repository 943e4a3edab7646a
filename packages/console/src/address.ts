/**
 * The URL, as signals. It holds all view state: the page is the last path segment, everything else is in the query.
 * Every page is one level below `console/`, so the same relative URLs reach the assets and the API.
 */
import { computed, signal } from '@preact/signals';

const current = signal(new URL(location.href));

/** The page's name: `people` for `…/console/people?…`; '' for the overview. */
export const pageName = computed(() => current.value.pathname.replace(/^.*\/console\//, ''));

export const query = computed(() => current.value.searchParams);

const { pathname } = current.peek();
/** The service's base URL, without a trailing slash. A share link's page is one level deeper than the others. */
export const root = new URL(pathname.replace(/\/console(\/shared)?(\/[^/]*)?$/, '/'), location.href).href.replace(
  /\/$/,
  '',
);

/** The secret in the path of a share link's page. */
export const shareSecret = /\/console\/shared\/([^/]+)$/.exec(pathname)?.[1];

/** Whether the console runs on a loopback address, which other machines can't open. */
export const isLoopback = (): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname);

export type Changes = Readonly<Record<string, string | null | undefined>>;

const withChanges = (before: URLSearchParams, changes: Changes): string => {
  const after = new URLSearchParams(before);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === '') after.delete(name);
    else after.set(name, value);
  }
  const text = after.toString();
  return text && `?${text}`;
};

/** The parameters that links between pages preserve. */
const persistentParameters = ['account', 'range', 'from', 'to', 'compare', 'filter'];

/** The URL of a page with the current range, comparison, filter and account. */
export const hrefOf = (page: string, parameters: Changes = {}): string => {
  const persistent = new URLSearchParams([...query.value].filter(([name]) => persistentParameters.includes(name)));
  return (page || './') + withChanges(persistent, parameters);
};

/** The URL of a page with this query, in the current account. */
export const hrefOfQuery = (page: string, text: string): string =>
  (page || './') + withChanges(new URLSearchParams(text), { account: query.value.get('account') });

/** The URL of this page with some parameters changed. */
export const hrefWith = (changes: Changes): string => {
  const page = shareSecret === undefined ? pageName.value || './' : '';
  return page + withChanges(query.value, changes);
};

/**
 * Shows a page inside a share link; the URL in the browser stays. Other parameters of that URL are ignored: someone who
 * forwards the link could have edited them.
 */
export const showSharedPage = (page: string, text: string): void => {
  current.value = new URL(`${root}/console/${page}?${text}`);
};

const arrive = (): void => {
  current.value = new URL(location.href);
};

/** Navigates to a console URL; `replace` replaces the current history entry. */
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
  // Wait until the next page is rendered: scrolling or focusing now would force a layout of the page that is about to
  // disappear.
  requestAnimationFrame(() => {
    scrollTo(0, 0);
    // As after a page load, the next Tab and screen readers start at the content.
    document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
  });
};

/** Changes this page's parameters. */
export const setQuery = (changes: Changes, options?: { readonly replace?: boolean }): void =>
  go(hrefWith(changes), options);

const isPlain = ({ button, altKey, ctrlKey, metaKey, shiftKey }: MouseEvent): boolean =>
  button === 0 && !altKey && !ctrlKey && !metaKey && !shiftKey;

/** Handles clicks on links between console pages without a page load. */
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
