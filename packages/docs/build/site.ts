/** All pages of the documentation, in navigation order, and the search entries. */
import type { SearchEntry } from '../src/search-entry.ts';
import { frontPage } from './front-page.ts';
import { fillInDefaults, type NavigationGroup, type Page } from './page.ts';
import { document, operationDocs } from './reference/document.ts';
import { errorsPage } from './reference/errors-page.ts';
import { limitsPage } from './reference/limits-page.ts';
import { operationPage, operationPath } from './reference/operation-page.ts';
import { overviewPage } from './reference/overview-page.ts';
import { guideGroups, textPages } from './texts.ts';

export interface Site {
  readonly pages: readonly Page[];
  readonly groups: readonly NavigationGroup[];
}

/** The guides that mention the operation. */
const guidesAbout = (name: string, guides: readonly Page[]): Page[] => {
  const word = new RegExp(`\\b${name}\\b`);
  return guides.filter(({ sections }) => sections.some(({ text, title }) => word.test(text) || word.test(title)));
};

export const createSite = (): Site => {
  const { pages: texts, groups } = textPages();
  const guideGroup = guideGroups();
  const guidePaths = new Set(guideGroup.flatMap(({ guides }) => guides.map(({ path }) => path)));
  const guides = texts.filter(({ path }) => guidePaths.has(path));
  const operationPages = operationDocs.map((operation) =>
    operationPage(operation, guidesAbout(operation.name, guides)),
  );
  const reference: NavigationGroup[] = [
    {
      title: 'API reference',
      links: [
        { path: 'reference/', label: 'Overview' },
        { path: 'reference/errors', label: 'Error codes' },
        { path: 'reference/limits', label: 'Limits' },
      ],
    },
    ...document.tags.map(({ name: noun }) => ({
      title: noun,
      links: operationDocs
        .filter((operation) => operation.noun === noun)
        .map(({ name }) => ({ path: operationPath(name), label: name, isCode: true })),
    })),
  ];
  const manuals = groups.at(-1) as NavigationGroup;
  return {
    pages: [frontPage(guideGroup), ...texts, overviewPage(), ...operationPages, errorsPage(), limitsPage()],
    groups: [...groups.slice(0, -1), ...reference, manuals],
  };
};

const maxTextCharacters = 2_500;

/** The search entries, with defaults for placeholders. */
export const searchEntries = ({ pages }: Site): SearchEntry[] =>
  pages.flatMap((page) =>
    page.sections.map(({ anchor, title, text }) => ({
      to: anchor === '' ? page.path : `${page.path}#${anchor}`,
      title: fillInDefaults(title),
      ...(anchor !== '' && { page: page.title }),
      text: fillInDefaults(text).slice(0, maxTextCharacters),
    })),
  );
