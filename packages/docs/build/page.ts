/** Types and helpers that the parts of the build share. */
import type { html } from 'hono/html';

/** HTML in which `html` has escaped every value that is not HTML itself. */
export type HTML = ReturnType<typeof html>;

/** A section of a page, for the search index. */
export interface Section {
  /** Empty for the part before the first heading. */
  readonly anchor: string;
  readonly title: string;
  /** Its text without markup. */
  readonly text: string;
}

export interface Page {
  /** Relative to `/docs/`: `''`, `identify`, `reference/logEvent`. */
  readonly path: string;
  readonly title: string;
  /** One sentence, for search engines and search results. */
  readonly description: string;
  readonly content: HTML;
  /** The page as Markdown, for a page with a Markdown source. */
  readonly markdown?: string;
  /** Headings for the table of contents. */
  readonly headings?: readonly { readonly anchor: string; readonly title: string }[];
  /** `wide`: with samples next to the text. */
  readonly form: 'text' | 'wide' | 'front';
  readonly sections: readonly Section[];
}

export interface NavigationLink {
  readonly path: string;
  readonly label: string;
  readonly isCode?: boolean;
}

export interface NavigationGroup {
  readonly title: string;
  readonly links: readonly NavigationLink[];
}

/** Placeholders that the server fills in when it loads a page. They occur only in text, never in attributes. */
export const placeholders = {
  /** The server's URL, with the base path and without a trailing slash. */
  root: '{firsthand:root}',
  /** TRACKER_PATH without `.js`. Other scripts share this stem, such as `/main.full.js`. */
  trackerStem: '{firsthand:tracker-stem}',
  /** The path that pages send requests to, set by API_PREFIX. */
  pageFolder: '{firsthand:page-folder}',
  /** The script tag that `firsthand` prints. */
  scriptTag: '{firsthand:script-tag}',
} as const;

/** Fills in the values for a server with default settings. */
export const fillInDefaults = (text: string): string =>
  text
    .replaceAll(placeholders.root, 'http://127.0.0.1:3000')
    .replaceAll(placeholders.trackerStem, '/main')
    .replaceAll(placeholders.pageFolder, '/');

/** The path from one page to another: `reference/logEvent` to `identify` is `../identify`. */
export const relativePath = (from: string, to: string): string => {
  const up = '../'.repeat(from.split('/').length - 1);
  return up + to || './';
};
