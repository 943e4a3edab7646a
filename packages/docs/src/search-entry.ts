/** What the search can find: a page, or a part of one. */
export interface SearchEntry {
  /** Relative to `/docs/`, with its anchor. */
  readonly to: string;
  readonly title: string;
  /** The title of the page, where the entry is a part of it. */
  readonly page?: string;
  readonly text: string;
}
