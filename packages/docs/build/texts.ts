/** The pages that are Markdown files: the guides, in the order of their index, the manual, and the READMEs of what people install. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { html } from 'hono/html';
import { Marked, type Token, type Tokens } from 'marked';
import { codeBlock } from './highlight.ts';
import { pictures } from './images.ts';
import { manuals } from './manuals.ts';
import { plainText, type Rendered, renderMarkdown } from './markdown.ts';
import { type NavigationGroup, type Page, places, relativePath, withDefaults } from './page.ts';

const repository = new URL('../../../', import.meta.url);
const guidesFolder = 'packages/docs';
const indexFile = `${guidesFolder}/README.md`;

const readText = (file: string): string => readFileSync(new URL(file, repository), 'utf8');

/**
 * The two things in a file that differ from server to server: the address, where a shell variable is set to it and where a text gives
 * that of `npm start`, and the names of the
 * scripts below the example of an own path, `/s/`. All else is shown as it is in the file.
 */
const withPlaces = (text: string): string =>
  text
    .replaceAll(/^((?:export )?[A-Z_]*URL=)http:\/\/127\.0\.0\.1:3000$/gm, `$1${places.root}`)
    .replaceAll(/(?<=`npm start`, that of the console: `)http:\/\/127\.0\.0\.1:3000/g, places.root)
    .replaceAll(/\/s\/main(?=\.[\w.…]*\bjs\b)/g, `/s${places.trackerStem}`);

const guideFiles = (): string[] =>
  readdirSync(new URL(`${guidesFolder}/`, repository))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .map((name) => `${guidesFolder}/${name}`);

const guidePath = (file: string): string => posix.basename(file, '.md');

/** The path of the page that a file has become; undefined for a file that is no page. */
const pageOf = (file: string): string | undefined => {
  if (file === indexFile) return '';
  if (posix.dirname(file) === guidesFolder && file.endsWith('.md') && existsSync(new URL(file, repository)))
    return guidePath(file);
  return manuals[file]?.path;
};

/** Whether code uses the address of the server, which is then set before it. */
const usesServer = (code: string): boolean => /\bFIRSTHAND_URL\b/.test(code);

const renderFile = (file: string, path: string): Rendered =>
  renderMarkdown(
    withPlaces(readText(file)),
    (href) => {
      const to = pageOf(posix.join(posix.dirname(file), href));
      return to === undefined ? undefined : relativePath(path, to);
    },
    (href) => {
      const picture = pictures.get(posix.basename(href));
      return picture && { src: relativePath(path, picture.path), width: picture.width, height: picture.height };
    },
    usesServer,
  );

/** What the variables of the guides' blocks hold. */
const variables: Readonly<Record<string, string>> = {
  FIRSTHAND_URL: places.root,
  SERVER_TOKEN: 'server_…',
  BROWSER_TOKEN: 'browser_…',
};

/** Sets the variables that the code of a guide uses, with the address of this server. */
const setting = (text: string) => {
  const used = Object.entries(variables).filter(([name]) => new RegExp(`\\b${name}\\b`).test(text));
  if (!usesServer(text)) return html``;
  const lines = used.map(([name, value]) => `export ${name}=${value}`).join('\n');
  return html`<aside class="setting" aria-label="On this server">${codeBlock(lines, 'sh', 'The variables, on this server')}</aside>`;
};

const toPage = (file: string, path: string, isGuide: boolean): Page => {
  const { title, lead, intro, rest, headings, sections } = renderFile(file, path);
  return {
    path,
    title,
    description: withDefaults(lead.split(/(?<=[.?:]) /, 1)[0] ?? ''),
    form: 'text',
    headings,
    sections,
    content: html`${intro}${isGuide ? setting(readText(file)) : ''}${rest}`,
  };
};

/** A guide as its index lists it. */
interface Listed {
  readonly file: string;
  readonly path: string;
  readonly title: string;
  /** The other cell of its row. */
  readonly use: string;
}

export interface GuideGroup {
  /** The heading above the table; empty for one below the title. */
  readonly title: string;
  readonly guides: readonly Listed[];
}

const linkIn = (tokens: readonly Token[]): string | undefined =>
  (tokens.find(({ type }) => type === 'link') as Tokens.Link | undefined)?.href;

/** The tables of the index whose rows link to guides. */
export const guideGroups = (index = readText(indexFile)): GuideGroup[] => {
  const groups: { title: string; guides: Listed[] }[] = [];
  let title = '';
  for (const token of new Marked({ gfm: true }).lexer(index)) {
    if (token.type === 'heading') title = token.depth > 1 ? plainText([token]).trim() : '';
    if (token.type !== 'table') continue;
    const guides = (token as Tokens.Table).rows.flatMap(([first, second]) => {
      const href = linkIn(first?.tokens ?? []);
      if (!first || href === undefined || !/^(?:manual\/)?[\w-]+\.md$/.test(href)) return [];
      const file = `${guidesFolder}/${href}`;
      return [
        {
          file,
          path: manuals[file]?.path ?? guidePath(file),
          title: first.text.replace(/^\[(.*)\]\(.*\)$/, '$1'),
          use: second?.text ?? '',
        },
      ];
    });
    if (guides.length > 0) groups.push({ title, guides });
  }
  return groups;
};

/** The guides and manuals, and the navigation over them. Throws for a guide that the index does not list. */
export const textPages = (): { pages: Page[]; groups: NavigationGroup[] } => {
  const groups = guideGroups();
  const listed = groups.flatMap(({ guides }) => guides);
  const missing = guideFiles().filter((file) => !listed.some((guide) => guide.file === file));
  // The manuals that no group of the index lists.
  const others = Object.entries(manuals).filter(([file]) => !listed.some((guide) => guide.file === file));
  if (missing.length > 0) throw new Error(`${indexFile} does not list ${missing.join(', ')}`);
  return {
    pages: [
      ...listed.map(({ file, path }) => toPage(file, path, !(file in manuals))),
      ...others.map(([file, { path }]) => toPage(file, path, false)),
    ],
    groups: [
      ...groups.map(({ title, guides }) => ({
        title: title || 'Guides',
        links: guides.map(({ path, title: label }) => ({ path, label })),
      })),
      { title: 'Manuals', links: others.map(([, manual]) => manual) },
    ],
  };
};
