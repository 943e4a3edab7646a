/** Finds pages and sections that match a query's words. */
import MiniSearch from 'minisearch';
import type { SearchEntry } from './search-entry.ts';

export interface Result {
  readonly to: string;
  readonly title: string;
  readonly page: string;
  /** An excerpt around a word in the query. */
  readonly excerpt: string;
}

const maxResults = 8;
const maxQueryLength = 100;
const excerptLength = 120;
/** Words in a query that are ignored. */
const stopWords = new Set(['a', 'an', 'can', 'do', 'does', 'how', 'i', 'my', 'the', 'to', 'what', 'where', 'why']);

/** The words to index for a term: the term and the parts of a name, such as `log` and `event` for `logEvent`. */
const termsOf = (term: string): string[] => {
  const parts = term.split(/(?<=[a-z0-9])(?=[A-Z])|_/);
  return [...new Set([term, ...(parts.length > 1 ? parts : [])].map((part) => part.toLowerCase()))];
};

const excerptOf = (text: string, terms: readonly string[]): string => {
  const lower = text.toLowerCase();
  const at = Math.min(...terms.map((term) => lower.indexOf(term)).filter((index) => index >= 0), text.length);
  const from = at < text.length ? Math.max(0, text.lastIndexOf(' ', Math.max(0, at - 40)) + 1) : 0;
  const piece = text.slice(from, from + excerptLength);
  return `${from > 0 ? '… ' : ''}${piece}${from + excerptLength < text.length ? ' …' : ''}`;
};

/** Returns a function that searches the entries and returns the eight best results, best first. */
export const createSearch = (entries: readonly SearchEntry[]): ((query: string) => Result[]) => {
  const index = new MiniSearch<SearchEntry & { id: number }>({
    fields: ['title', 'page', 'text'],
    processTerm: termsOf,
    searchOptions: {
      boost: { title: 6, page: 2 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      // Exact matches come before corrections of misspelled words.
      weights: { fuzzy: 0.15, prefix: 0.4 },
      combineWith: 'AND',
      processTerm: (term) => (stopWords.has(term.toLowerCase()) ? false : term.toLowerCase()),
      // A page comes before its sections.
      boostDocument: (id) => (entries[id as number]?.page === undefined ? 1.6 : 1),
    },
  });
  index.addAll(entries.map((entry, id) => ({ ...entry, id })));
  /**
   * Returns results in this order: the title equals the query; the text contains a query with an underscore; all words
   * match; some words match.
   */
  const find = (query: string) => {
    const title = query.trim().toLowerCase();
    const all = index.search(query);
    const byTitle = all.filter(({ id }) => entries[id]?.title.toLowerCase() === title);
    const mentions = /^\w+_\w+$/.test(title)
      ? all.filter(({ id }) => entries[id]?.text.toLowerCase().includes(title))
      : [];
    const some = index.search(query, { combineWith: 'OR' });
    return [...new Map([...byTitle, ...mentions, ...all, ...some].map((result) => [result.id, result])).values()];
  };
  return (query) =>
    find(query.slice(0, maxQueryLength))
      .slice(0, maxResults)
      .flatMap(({ id, terms }) => {
        const entry = entries[id as number];
        if (!entry) return [];
        const { to, title, page = '', text } = entry;
        return [{ to, title, page, excerpt: excerptOf(text, terms) }];
      });
};

/** Loads the entries. Rejects if they cannot be loaded. */
export const openSearch = async (url: string): Promise<ReturnType<typeof createSearch>> => {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the search could not be loaded: ${response.status}`);
  return createSearch(await response.json());
};
