import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildDist, dist } from '../build/build.ts';
import { cleanSource, toMarkdown } from '../build/to-markdown.ts';

/** All pages' Markdown files, by their path under /docs/. */
const files = new Map<string, string>();
let names: string[];
beforeAll(async () => {
  await buildDist();
  names = ['', 'reference/'].flatMap((within) => readdirSync(join(dist, within)).map((name) => within + name));
  for (const name of names) if (name.endsWith('.md')) files.set(name, readFileSync(join(dist, name), 'utf8'));
});

const linksIn = (markdown: string): string[] => {
  const links: string[] = [];
  const marked = new Marked({ gfm: true });
  marked.walkTokens(marked.lexer(markdown), (token) => {
    if (token.type === 'link' || token.type === 'image') links.push((token as Tokens.Link).href);
  });
  return links;
};

describe('the Markdown of the documentation', () => {
  it('has a file for each page, with one title and without HTML or comments', () => {
    const pages = names.filter((name) => name.endsWith('.html')).map((name) => name.replace(/html$/, 'md'));
    expect([...files.keys()].sort()).toEqual(pages.sort());
    for (const [name, markdown] of files) {
      expect([name, /&(?:#\w+|lt|gt|amp|quot);/.exec(markdown)?.[0]]).toEqual([name, undefined]);
      const text = markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`]*`/g, '');
      expect([name, text.match(/^# .+$/gm)?.length, text.startsWith('# ')]).toEqual([name, 1, true]);
      expect([name, /<!--|<\/?(?:p|div|code|span|a|td|li|h\d)\b/.exec(text)?.[0]]).toEqual([name, undefined]);
    }
  });

  it('links only to files that exist', () => {
    let relative = 0;
    for (const [name, markdown] of files) {
      for (const href of linksIn(markdown)) {
        if (/^[a-z]+:|^#/.test(href)) continue;
        const path = posix.join(posix.dirname(name), href.split('#')[0] as string);
        if (/^\.\./.test(path)) continue;
        expect([name, href, names.includes(path) || path.startsWith('assets/')]).toEqual([name, href, true]);
        relative += 1;
      }
    }
    expect(relative).toBeGreaterThan(200);
  });

  it('is listed in llms.txt, page by page', () => {
    const index = readFileSync(join(dist, 'llms.txt'), 'utf8');
    const root = '{firsthand:root}/docs/';
    const listed = linksIn(index)
      .map((href) => decodeURI(href))
      .flatMap((href) => (href.startsWith(root) ? href.slice(root.length) : []));
    expect(listed.sort()).toEqual([...files.keys()].filter((name) => name !== 'index.md').sort());
    expect(index).toMatch(/^# Firsthand\n\n> /);
  });
});

describe('toMarkdown', () => {
  it('converts headings, lists, tables, links and code', () => {
    const html = `<p class="noun">Event</p>
<h1>Title</h1><p>Text with <code>a &lt; b</code>, <strong>weight</strong> and a <a href="errors#x">link</a>.</p>
<ul><li>one</li><li>two</li></ul>
<table><thead><tr><th>Code</th><th>When</th></tr></thead><tbody><tr><td><code>x</code></td><td>now</td></tr></tbody></table>
<pre tabindex="0"><code>if (<span>a</span> &lt; 1) {
  b();
}</code></pre>`;
    expect(toMarkdown(html)).toBe(`# Title

Text with \`a < b\`, **weight** and a [link](errors.md#x).

- one
- two

| Code | When |
|---|---|
| \`x\` | now |

\`\`\`
if (a < 1) {
  b();
}
\`\`\`
`);
  });
});

describe('cleanSource', () => {
  it('removes comments, and resolves or drops links outside code', () => {
    const source =
      'A [guide](guide.md#part), [code](x.ts) and [page](https://a.example).\n<!-- test: x -->\n```md\n[kept](guide.md)\n```\n';
    const resolve = (href: string) => (href === 'guide.md' ? 'other.md' : undefined);
    expect(cleanSource(source, resolve)).toBe(
      'A [guide](other.md#part), code and [page](https://a.example).\n```md\n[kept](guide.md)\n```\n',
    );
  });
});
