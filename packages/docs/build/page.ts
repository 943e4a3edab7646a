/** The shapes that the parts of the documentation share. */
import type { html } from 'hono/html';

/** HTML, in which `html` has escaped every value that is not HTML itself. */
export type HTML = ReturnType<typeof html>;

/** A part of a page, for the search. */
export interface Section {
  /** Empty for the beginning of the page. */
  readonly anchor: string;
  readonly title: string;
  /** Its text without markup. */
  readonly text: string;
}

export interface Page {
  /** Relative to `/docs/`: `''`, `identify`, `reference/logEvent`. */
  readonly path: string;
  readonly title: string;
  /** One sentence, for search engines and results. */
  readonly description: string;
  readonly content: HTML;
  /** The headings of a long text, listed beside it. */
  readonly headings?: readonly { readonly anchor: string; readonly title: string }[];
  /** `wide` has samples beside its text. */
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

/** What the server puts in, when it reads a page: a place is in the text of the page, never in an attribute. */
export const places = {
  /** The URL of the server, base path included, without a slash at its end. */
  root: '{firsthand:root}',
  /** The path of the script, as TRACKER_PATH sets it, without `.js`: the names of the others begin with it too, as `/main.full.js`. */
  trackerStem: '{firsthand:tracker-stem}',
  /** The folder that pages send to, as API_PREFIX sets it. */
  pageFolder: '{firsthand:page-folder}',
  /** The script tag, as `firsthand` prints it. */
  scriptTag: '{firsthand:script-tag}',
} as const;

/** The text with what a server that nobody has set anything for would fill in. */
export const withDefaults = (text: string): string =>
  text
    .replaceAll(places.root, 'http://127.0.0.1:3000')
    .replaceAll(places.trackerStem, '/main')
    .replaceAll(places.pageFolder, '/');

/** The path from one page to another: `reference/logEvent` to `identify` is `../identify`. */
export const relativePath = (from: string, to: string): string => {
  const up = '../'.repeat(from.split('/').length - 1);
  return up + to || './';
};
