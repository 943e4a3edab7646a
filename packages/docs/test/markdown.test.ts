import { expect, it } from 'vitest';
import { renderMarkdown } from '../build/markdown.ts';

const render = (text: string) => {
  const { intro, rest } = renderMarkdown(text, (href) => (href === 'other.md' ? 'other' : undefined));
  return `${intro}${rest}`;
};

it('shows HTML as text, and omits comments', () => {
  const html = render(
    '# A & B\n\n<img src=x onerror=alert(1)>\n\nText <b>bold</b> <!-- test: x --> after\n\n<!-- test:\n y -->\n',
  );
  expect(html).toContain('<h1>A &amp; B</h1>');
  expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;');
  expect(html).toContain('&lt;b&gt;bold&lt;/b&gt;');
  expect(html).not.toContain('test:');
});

it('creates links only to existing pages and to other sites', () => {
  const html = render(
    '# T\n\n[one](other.md#a-part) [two](missing.md) [three](https://a.example/?a=1&b="2) [four](javascript:alert(1)) [five](#t)',
  );
  expect(html).toContain('<a href="other#a-part">one</a> two <a href="https://a.example/');
  expect(html).not.toMatch(/href="[^"]*javascript|"2"/);
  expect(html).toContain('four <a href="#t">five</a>');
});

it('shows existing pictures with size and alternative text, and only the text of missing pictures', () => {
  const { intro } = renderMarkdown(
    '# T\n\n![A "plot"](../images/plot.webp) ![a face](face.png)',
    () => undefined,
    (href) => (href.endsWith('plot.webp') ? { src: 'assets/plot.0.webp', width: 390, height: 844 } : undefined),
  );
  expect(String(intro)).toContain(
    '<img src="assets/plot.0.webp" alt="A &quot;plot&quot;" width="390" height="844" loading="lazy"> a face',
  );
});

it('includes in the intro everything up to the heading of the first code block that needs setup', () => {
  const text = '# T\n\nLead\n\n## A\n\n```text\none\n```\n\n## B\n\nText\n\n```sh\ncurl "$URL"\n```\n';
  const introOf = (needsSetup?: (code: string) => boolean) =>
    String(
      renderMarkdown(
        text,
        () => undefined,
        () => undefined,
        needsSetup,
      ).intro,
    );
  expect(introOf((code) => code.includes('$URL')).trim()).toMatch(/one[\s\S]*B<\/a><\/h2>$/);
  expect(introOf().trim()).toMatch(/Lead<\/p>$/);
});

it('escapes code in known and unknown languages', () => {
  for (const language of ['html', 'js', 'caddyfile', ''])
    expect(render(`# T\n\n\`\`\`${language}\n<script>alert(1)</script>\n\`\`\`\n`)).not.toContain('<script>');
});

it('gives each heading a unique anchor in the style of GitHub', () => {
  const { headings, sections, title, lead } = renderMarkdown(
    "# T\n\nIntro.\n\n## Safari's 7 days\n\nOne\n\n### A `b`\n\n## Safari's 7 days\n",
    () => '',
  );
  expect({ title, lead }).toEqual({ title: 'T', lead: 'Intro.' });
  expect(headings.map(({ anchor }) => anchor)).toEqual(['safaris-7-days', 'safaris-7-days-1']);
  expect(sections[2]).toEqual({ anchor: 'a-b', title: 'A b', text: '' });
});

it('rejects text without a title', () => {
  expect(() => render('Text')).toThrow(/begin with a heading/);
});
