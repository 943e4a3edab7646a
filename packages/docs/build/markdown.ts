/** Renders a Markdown file of the repository, with links to other pages of the documentation. */
import GithubSlugger from 'github-slugger';
import { html, raw } from 'hono/html';
import { Marked, type Token, type Tokens } from 'marked';
import { codeBlock } from './highlight.ts';
import type { HTML, Section } from './page.ts';

/**
 * Resolves a link from the file, without its anchor. Undefined for a file without a page: only the link's text is
 * shown.
 */
type ResolveLink = (href: string) => string | undefined;

/** A picture, with its URL relative to the page. */
interface PageImage {
  readonly src: string;
  readonly width: number;
  readonly height: number;
}
/** Finds a picture. Undefined if it does not exist: only its alternative text is shown. */
type ResolvePicture = (href: string) => PageImage | undefined;

export interface Rendered {
  /** The first heading. */
  readonly title: string;
  /** The plain text between the title and the next heading. */
  readonly lead: string;
  /**
   * The parts before and after the setup block. The intro includes the heading of the first code block that needs
   * setup. Without such a block, it ends before the first code block or heading below the title.
   */
  readonly intro: HTML;
  readonly rest: HTML;
  readonly headings: { readonly anchor: string; readonly title: string }[];
  readonly sections: Section[];
}

/** The text of the tokens, without markup or comments. */
export const plainText = (tokens: readonly Token[]): string =>
  tokens
    .map((token): string => {
      if (token.type === 'html' || token.type === 'space') return '';
      if (token.type === 'table') {
        const { header, rows } = token as Tokens.Table;
        return [header, ...rows].flatMap((row) => row.map((cell) => plainText(cell.tokens))).join(' ');
      }
      if (token.type === 'list')
        return (token as Tokens.List).items.map(({ tokens: item }) => plainText(item)).join(' ');
      if ('tokens' in token && token.tokens) return plainText(token.tokens);
      return token.type === 'br' ? ' ' : 'text' in token ? unescapeText(String(token.text)) : '';
    })
    .join('')
    .replaceAll(/\s+/g, ' ');

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};
/** Undoes the escaping that `marked` applies to token text. */
const unescapeText = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity);

const isComment = (text: string): boolean => /^\s*(?:<!--[\s\S]*?-->\s*)*$/.test(text);
const isExternal = (href: string): boolean => /^https?:\/\//.test(href);

const createMarked = (resolve: ResolveLink, pictureAt: ResolvePicture, headings: ReadonlyMap<Token, Heading>) => {
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading(token) {
        const { anchor, depth } = headings.get(token) ?? { anchor: '', depth: token.depth };
        const text = this.parser.parseInline(token.tokens);
        if (depth === 1) return `<h1>${text}</h1>\n`;
        return `<h${depth} id="${anchor}"><a class="anchor" href="#${anchor}">${text}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const [file = '', anchor] = href.split('#', 2);
        const to = isExternal(href) ? href : file === '' ? `#${anchor}` : resolve(file);
        if (to === undefined) return text;
        const whole = anchor === undefined || file === '' || isExternal(href) ? to : `${to}#${anchor}`;
        return String(html`<a href="${whole}">${raw(text)}</a>`);
      },
      image: ({ href, text }) => {
        const picture = pictureAt(href);
        if (picture === undefined) return String(html`${text}`);
        const { src, width, height } = picture;
        return String(html`<img src="${src}" alt="${text}" width="${width}" height="${height}" loading="lazy">`);
      },
      // Comments name tests. Any other HTML is shown as text.
      html: ({ text }) => (isComment(text) ? '' : String(html`${text}`)),
      code: ({ text, lang = '' }) => String(codeBlock(text, lang)),
      table(token) {
        const row = (cells: readonly Tokens.TableCell[], name: 'th' | 'td') =>
          `<tr>${cells.map((cell) => `<${name}>${this.parser.parseInline(cell.tokens)}</${name}>`).join('')}</tr>\n`;
        const body = token.rows.map((cells) => row(cells, 'td')).join('');
        return `<div class="table" tabindex="0"><table>\n<thead>${row(token.header, 'th')}</thead>\n<tbody>${body}</tbody>\n</table></div>\n`;
      },
    },
  });
  return marked;
};

interface Heading {
  readonly anchor: string;
  readonly depth: number;
}

/** Renders a file. `needsSetup` returns whether code needs a setup block before it. Throws if the file has no title. */
export const renderMarkdown = (
  text: string,
  resolve: ResolveLink,
  pictureAt: ResolvePicture = () => undefined,
  needsSetup: (code: string) => boolean = () => false,
): Rendered => {
  const slugger = new GithubSlugger();
  const tokens = new Marked({ gfm: true }).lexer(text.replaceAll('\r\n', '\n'));
  const rendered = new Map<Token, Heading>();
  let depth = 0;
  const sections: { anchor: string; title: string; text: string }[] = [];
  const headings: { anchor: string; title: string }[] = [];
  for (const token of tokens) {
    if (token.type === 'heading') {
      const title = plainText([token]).trim();
      const anchor = slugger.slug(title);
      // Screen reader users navigate by headings, so levels must not be skipped.
      depth = Math.min(token.depth, depth + 1);
      rendered.set(token, { anchor, depth });
      const isTitle = depth === 1;
      sections.push({ anchor: isTitle ? '' : anchor, title, text: '' });
      if (depth === 2) headings.push({ anchor, title });
    } else {
      const section = sections.at(-1);
      if (section) section.text = `${section.text} ${plainText([token])}`.trim();
    }
  }
  const [first] = sections;
  if (first?.anchor !== '') throw new Error(`a page must begin with a heading: ${text.slice(0, 80)}`);
  const marked = createMarked(resolve, pictureAt, rendered);
  const render = (part: Token[]): HTML => raw(marked.parser(part));
  const isBelowTitle = (token: Token) => token.type === 'heading' && token.depth > 1;
  const setupCode = tokens.findIndex((token) => token.type === 'code' && needsSetup(token.text));
  const headingAbove = tokens.slice(0, Math.max(0, setupCode)).findLastIndex(isBelowTitle);
  const end = tokens.findIndex((token) => token.type === 'code' || isBelowTitle(token));
  const at = headingAbove >= 0 ? headingAbove + 1 : end < 0 ? tokens.length : end;
  const intro = render(tokens.slice(0, at));
  return { title: first.title, lead: first.text, intro, rest: render(tokens.slice(at)), headings, sections };
};

/** Renders a table cell's text, without links. */
export const renderInline = (text: string): HTML =>
  raw(
    createMarked(
      () => undefined,
      () => undefined,
      new Map(),
    ).parseInline(text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'), {
      async: false,
    }),
  );
