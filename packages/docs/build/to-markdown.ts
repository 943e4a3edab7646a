/** Writes pages as Markdown, for AI agents: guides from their source, other pages from their HTML. */
import { type NavigationGroup, type Page, placeholders } from './page.ts';

/** `identify` → `identify.md`, `reference/` → `reference/index.md` */
export const markdownFileOf = (path: string): string => `${path}${path === '' || path.endsWith('/') ? 'index' : ''}.md`;

/** Applies `change` to the text outside fenced code blocks. */
const outsideCode = (markdown: string, change: (text: string) => string): string =>
  markdown
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('');

/**
 * Returns a guide's source without comments. `resolve` returns a link's new target, without its anchor; if it returns
 * undefined, only the link's text is kept.
 */
export const cleanSource = (source: string, resolve: (href: string) => string | undefined): string =>
  outsideCode(source, (text) =>
    text
      .replaceAll(/\n?<!--[\s\S]*?-->/g, '')
      .replaceAll(
        /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g,
        (link, mark: string, label: string, href: string) => {
          if (/^(?:[a-z]+:|#)/.test(href)) return link;
          const [file = '', anchor] = href.split('#');
          const to = resolve(file);
          if (to === undefined) return label;
          return `${mark}[${label}](${to}${anchor === undefined ? '' : `#${anchor}`})`;
        },
      ),
  );

const entities: Readonly<Record<string, string>> = {
  ...{ lt: '<', gt: '>', quot: '"', amp: '&', nbsp: ' ' },
  ...{ '#39': "'", '#x27': "'" },
};
const unescapeHTML = (html: string): string =>
  html.replaceAll(/&(lt|gt|quot|amp|nbsp|#39|#x27);/g, (_, name: string) => entities[name] ?? '');
const withoutTags = (html: string): string => unescapeHTML(html.replaceAll(/<[^>]*>/g, ''));

/** Converts a link's path, relative to its page's folder, to the Markdown file's path. */
const toMarkdownLink = (href: string): string => {
  if (/^(?:[a-z]+:|#)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const isFile = /\.\w+$/.test(path);
  const to = isFile ? path : markdownFileOf(path === './' ? '' : path);
  return `${to}${anchor === undefined ? '' : `#${anchor}`}`;
};

/** Tags whose content starts a new line, and what the line starts with. */
const lineStarts: Readonly<Record<string, string>> = {
  ...{ h1: '\n# ', h2: '\n## ', h3: '\n### ', p: '\n', li: '- ', dt: '- ', dd: '  ' },
  ...{
    div: '',
    figure: '',
    ul: '\n',
    dl: '\n',
    section: '',
    details: '',
    figcaption: '\n',
    tr: '|',
    table: '\n',
    summary: '',
  },
};

/** Converts the HTML that the build writes; only the tags and attributes that it uses. */
export const toMarkdown = (html: string): string => {
  const blocks: string[] = [];
  const text = html
    .replaceAll(/<pre[^>]*>([\s\S]*?)<\/pre>/g, (_, code: string) => {
      blocks.push(`\`\`\`\n${withoutTags(code).trimEnd()}\n\`\`\``);
      return `\ue000${blocks.length - 1}\ue000`;
    })
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/<a class="anchor"[^>]*>(.*?)<\/a>/g, '$1')
    .replaceAll(
      /<a [^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/g,
      (_, href: string, label: string) => `[${label}](${toMarkdownLink(href)})`,
    )
    .replaceAll(/<\/?code[^>]*>/g, '`')
    .replaceAll(/<\/?strong>/g, '**')
    .replaceAll('**<span>', '**: ')
    .replaceAll(/<\/t[dh]>/g, ' |')
    .replaceAll(/<\/thead>/g, '\n\ue001')
    .replaceAll(/<(\w+)[^>]*>/g, (_, tag: string) => {
      const start = lineStarts[tag];
      if (start !== undefined) return `\n${start}`;
      return tag === 'td' || tag === 'th' ? ' ' : '';
    });
  const lines = withoutTags(text)
    .split('\n')
    .map((line) => line.replace(/^( {2})?\s*(.*?)\s*$/, '$1$2'));
  return (
    lines
      // The line below a table's header has as many columns as the header.
      .map((line, at) =>
        line.startsWith('\ue001')
          ? `${(lines.slice(0, at).findLast((each) => each.startsWith('|')) ?? '').replaceAll(/[^|]+/g, '---')}`
          : line,
      )
      .join('\n')
      // List entries and table rows are on consecutive lines.
      .replaceAll(/(?<=^- .*)\s*\n(?=- )/gm, '\n')
      .replaceAll(/(?<=^\|.*)\s*\n(?=\|)/gm, '\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      // Removes what is above the title, such as navigation.
      .replace(/^[^#][\s\S]*?(?=^# )/m, '')
      .replaceAll(/\s*\ue000(\d+)\ue000\s*/g, (_, index: string) => `\n\n${blocks[Number(index)]}\n\n`)
      .trim()
      .concat('\n')
  );
};

/** The list of all pages for agents (llmstxt.org). */
export const writeIndex = (pages: readonly Page[], groups: readonly NavigationGroup[]): string => {
  const root = `${placeholders.root}/docs/`;
  const sections = groups.map(({ title, links }) => {
    const entries = links.map(({ path, label }) => {
      const { description = '' } = pages.find((page) => page.path === path) ?? {};
      return `- [${label}](${root}${markdownFileOf(path)}): ${description.replaceAll('`', '')}`;
    });
    return `## ${title}\n\n${entries.join('\n')}\n`;
  });
  return `# Firsthand\n\n> ${pages.find(({ path }) => path === '')?.description ?? ''} The OpenAPI document is ${placeholders.root}/openapi.json, and ${placeholders.root}/mcp serves tools for agents.\n\n${sections.join('\n')}`;
};
