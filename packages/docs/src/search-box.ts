/**
 * The search box: a combobox with a list of results (WAI-ARIA Authoring Practices, "Combobox"). Loads the search index
 * on first use.
 */
import type { Result } from './search.ts';

const createResultItem = ({ to, title, page, excerpt }: Result, docs: string, id: string): HTMLLIElement => {
  const item = document.createElement('li');
  item.id = id;
  item.role = 'option';
  const link = document.createElement('a');
  link.href = docs + to;
  link.tabIndex = -1;
  const name = document.createElement('strong');
  name.textContent = title;
  const location = document.createElement('span');
  location.className = 'where';
  location.textContent = page;
  const text = document.createElement('span');
  text.className = 'excerpt';
  text.textContent = excerpt;
  link.append(name, ...(page ? [location] : []), text);
  item.append(link);
  return item;
};

/** `docs` is the path of `/docs/`, and `source` is the path of the search entries. */
export const startSearchBox = (box: HTMLElement, docs: string, source: string): void => {
  const input = box.querySelector('input') as HTMLInputElement;
  const list = box.querySelector('ul') as HTMLUListElement;
  const status = box.querySelector('[role=status]') as HTMLElement;
  let search: Promise<(query: string) => Result[]> | undefined;
  let chosen = -1;

  const load = () => {
    search ??= import('./search.ts').then(({ openSearch }) => openSearch(source));
    return search;
  };
  const choose = (index: number) => {
    list.children[chosen]?.removeAttribute('aria-selected');
    const item = list.children[index];
    chosen = item ? index : -1;
    item?.setAttribute('aria-selected', 'true');
    item?.scrollIntoView({ block: 'nearest' });
    if (item) input.setAttribute('aria-activedescendant', item.id);
    else input.removeAttribute('aria-activedescendant');
  };
  const show = (results: readonly Result[], text: string) => {
    list.replaceChildren(...results.map((each, index) => createResultItem(each, docs, `result-${index}`)));
    list.hidden = results.length === 0;
    input.setAttribute('aria-expanded', String(results.length > 0));
    status.textContent = text;
    status.className = results.length === 0 && text ? 'no-results' : 'visually-hidden';
    choose(results.length > 0 ? 0 : -1);
  };
  const close = () => show([], '');

  const update = async () => {
    const query = input.value.trim();
    if (query === '') return close();
    try {
      const find = await load();
      // The query might have changed while the search was loading.
      if (input.value.trim() !== query) return;
      const results = find(query);
      show(results, results.length > 0 ? `${results.length} results` : 'Nothing found');
    } catch {
      search = undefined;
      show([], 'The search could not be loaded');
    }
  };

  input.addEventListener('focus', () => {
    load().catch(() => {
      search = undefined;
    });
    update();
  });
  input.addEventListener('input', update);
  input.addEventListener('keydown', (event) => {
    const count = list.children.length;
    if (event.key === 'ArrowDown' && count > 0) choose((chosen + 1) % count);
    else if (event.key === 'ArrowUp' && count > 0) choose((chosen + count - 1) % count);
    else if (event.key === 'Enter') list.children[chosen]?.querySelector('a')?.click();
    else if (event.key === 'Escape') {
      close();
      input.value = '';
      input.blur();
    } else return;
    event.preventDefault();
  });
  box.addEventListener('focusout', ({ relatedTarget }) => {
    if (!box.contains(relatedTarget as Node | null)) close();
  });
  // Keeps focus in the box while a result is clicked.
  list.addEventListener('pointerdown', (event) => event.preventDefault());
  list.addEventListener('click', close);

  document.addEventListener('keydown', (event) => {
    const { target, key, ctrlKey, metaKey, altKey } = event;
    const isTyping =
      target instanceof HTMLElement && target.matches('input:not([type=radio]), textarea, [contenteditable]');
    const isSlash = key === '/' && !isTyping && !ctrlKey && !metaKey && !altKey;
    if (!isSlash && !((ctrlKey || metaKey) && key === 'k')) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  box.hidden = false;
};
