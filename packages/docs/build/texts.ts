/** Pages from Markdown files: the guides in the order of their index, the manual, and the package READMEs. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { html } from 'hono/html';
import { Marked, type Token, type Tokens } from 'marked';
import { codeBlock } from './highlight.ts';
import { pictures } from './images.ts';
import { manuals } from './manuals.ts';
import { plainText, type Rendered, renderMarkdown } from './markdown.ts';
import { fillInDefaults, type NavigationGroup, type Page, placeholders, relativePath } from './page.ts';
import { cleanSource, markdownFileOf } from './to-markdown.ts';

const repository = new URL('../../../', import.meta.url);
const guidesFolder = 'packages/docs';
const indexFile = `${guidesFolder}/README.md`;

const readText = (file: string): string => readFileSync(new URL(file, repository), 'utf8');

/**
 * Inserts placeholders for values that differ between servers: the server's address (where it is assigned to a shell
 * variable, or given as the address after `npm start`), and the names of scripts under the example path `/s/`.
 */
const insertPlaceholders = (text: string): string =>
  text
    .replaceAll(/^((?:export )?[A-Z_]*URL=)http:\/\/127\.0\.0\.1:3000$/gm, `$1${placeholders.root}`)
    .replaceAll(/(?<=`npm start`, that of the console: `)http:\/\/127\.0\.0\.1:3000/g, placeholders.root)
    .replaceAll(/\/s\/main(?=\.[\w.…]*\bjs\b)/g, `/s${placeholders.trackerStem}`);

const guideFiles = (): string[] =>
  readdirSync(new URL(`${guidesFolder}/`, repository))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .map((name) => `${guidesFolder}/${name}`);

const guidePath = (file: string): string => posix.basename(file, '.md');

/** The path of a file's page; undefined for a file without a page. */
const pageOf = (file: string): string | undefined => {
  if (file === indexFile) return '';
  if (posix.dirname(file) === guidesFolder && file.endsWith('.md') && existsSync(new URL(file, repository)))
    return guidePath(file);
  return manuals[file]?.path;
};

/** Whether code uses the shell variable that contains the server's address, which the page must set first. */
const usesServer = (code: string): boolean => /\bFIRSTHAND_URL\b/.test(code);

const renderFile = (file: string, path: string): Rendered =>
  renderMarkdown(
    insertPlaceholders(readText(file)),
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

/** Values of the shell variables in guides. */
const variables: Readonly<Record<string, string>> = {
  FIRSTHAND_URL: placeholders.root,
  SERVER_TOKEN: 'server_…',
  BROWSER_TOKEN: 'browser_…',
  AGENT_TOKEN: 'agent_…',
};

/** A block that sets the shell variables that a guide uses, with this server's address. */
const variablesBlock = (text: string) => {
  const used = Object.entries(variables).filter(([name]) => new RegExp(`\\b${name}\\b`).test(text));
  if (!usesServer(text)) return html``;
  const lines = used.map(([name, value]) => `export ${name}=${value}`).join('\n');
  return html`<aside class="setting" aria-label="Variables for this server">${codeBlock(lines, 'sh', 'Variables for this server')}</aside>`;
};

const toPage = (file: string, path: string, isGuide: boolean): Page => {
  const { title, lead, intro, rest, headings, sections } = renderFile(file, path);
  return {
    path,
    title,
    description: fillInDefaults(lead.split(/(?<=[.?:]) /, 1)[0] ?? ''),
    form: 'text',
    headings,
    sections,
    content: html`${intro}${isGuide ? variablesBlock(readText(file)) : ''}${rest}`,
    markdown: cleanSource(insertPlaceholders(readText(file)), (href) => {
      const to = pageOf(posix.join(posix.dirname(file), href));
      return to === undefined ? pictures.get(posix.basename(href))?.path : markdownFileOf(to);
    }),
  };
};

/** A guide in the index. */
interface IndexEntry {
  readonly file: string;
  readonly path: string;
  readonly title: string;
  /** When to use the guide. */
  readonly use: string;
}

export interface GuideGroup {
  /** The heading above the table; empty for a table directly below the title. */
  readonly title: string;
  readonly guides: readonly IndexEntry[];
}

const linkIn = (tokens: readonly Token[]): string | undefined =>
  (tokens.find(({ type }) => type === 'link') as Tokens.Link | undefined)?.href;

/** The tables of the index that link to guides. */
export const guideGroups = (index = readText(indexFile)): GuideGroup[] => {
  const groups: { title: string; guides: IndexEntry[] }[] = [];
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

/** The pages of guides and manuals, and their navigation. Throws for a guide that the index does not list. */
export const textPages = (): { pages: Page[]; groups: NavigationGroup[] } => {
  const groups = guideGroups();
  const listed = groups.flatMap(({ guides }) => guides);
  const missing = guideFiles().filter((file) => !listed.some((guide) => guide.file === file));
  const otherManuals = Object.entries(manuals).filter(([file]) => !listed.some((guide) => guide.file === file));
  if (missing.length > 0) throw new Error(`${indexFile} does not list ${missing.join(', ')}`);
  return {
    pages: [
      ...listed.map(({ file, path }) => toPage(file, path, !(file in manuals))),
      ...otherManuals.map(([file, { path }]) => toPage(file, path, false)),
    ],
    groups: [
      ...groups.map(({ title, guides }) => ({
        title: title || 'Guides',
        links: guides.map(({ path, title: label }) => ({ path, label })),
      })),
      { title: 'Manuals', links: otherManuals.map(([, manual]) => manual) },
    ],
  };
};
