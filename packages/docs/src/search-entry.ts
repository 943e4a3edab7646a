/** An entry of the search: a page, or a section of one. */
export interface SearchEntry {
  /** Relative to `/docs/`, with its anchor. */
  readonly to: string;
  readonly title: string;
  /** The page's title, if the entry is a section. */
  readonly page?: string;
  readonly text: string;
}
