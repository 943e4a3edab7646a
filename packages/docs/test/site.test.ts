/** Tests the built documentation. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { errors } from '@firsthand/contract/errors';
import { limits } from '@firsthand/contract/limits';
import { openAPI } from '@firsthand/contract/openapi';
import { operationNames } from '@firsthand/contract/operations';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isFresh, markBuilt } from '../../fresh.ts';
import { buildDist, dist, sources } from '../build/build.ts';
import { manuals } from '../build/manuals.ts';
import { createSite, searchEntries } from '../build/site.ts';
import { createSearch } from '../src/search.ts';

/** Each page's HTML, by its path under /docs/. */
const pages = new Map<string, string>();
beforeAll(async () => {
  await buildDist();
  for (const within of ['', 'reference/'])
    for (const file of readdirSync(join(dist, within)).filter((name) => name.endsWith('.html')))
      pages.set(within + file.replace(/^index\.html$|\.html$/, ''), readFileSync(join(dist, within, file), 'utf8'));
});

const guides = readdirSync(new URL('../', import.meta.url)).filter(
  (name) => name.endsWith('.md') && name !== 'README.md',
);

interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The start tags. Attributes contain no `>`, because it is escaped. */
const tagsOf = (html: string): Tag[] =>
  [...html.matchAll(/<([a-z][a-z0-9]*)((?:\s[^<>]*)?)>/g)].map(([, name = '', text = '']) => ({
    name,
    attributes: Object.fromEntries(
      [...text.matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(([, key, value = '']) => [key, value]),
    ),
  }));

const each = (check: (html: string, path: string) => void) => {
  expect(pages.size).toBeGreaterThan(30);
  for (const [path, html] of pages) check(html, path);
};

describe('the documentation', () => {
  it('has a page and a navigation link for each guide, manual and operation', () => {
    const paths = [
      ...guides.map((name) => name.replace(/\.md$/, '')),
      ...Object.values(manuals).map(({ path }) => path),
      ...operationNames.map((name) => `reference/${name}`),
      ...['reference/', 'reference/errors', 'reference/limits'],
    ];
    expect([...pages.keys()].toSorted()).toEqual(['', ...paths].toSorted());
    const [, menu = ''] = /<nav id="menu"([\s\S]*?)<\/nav>/.exec(pages.get('') ?? '') ?? [];
    expect(
      tagsOf(menu)
        .flatMap(({ attributes }) => attributes.href ?? [])
        .toSorted(),
    ).toEqual(paths.toSorted());
  });

  it('links error codes that a page can report to their remedies', () => {
    for (const code of ['invalid_token', 'id_not_for_browser']) {
      const [, rest = ''] = pages.get('reference/errors')?.split(`id="${code}"`) ?? [];
      expect(rest.split('class="field"')[0]).toContain('href="../troubleshooting#in-the-browser"');
    }
  });

  it('has no dead links or anchors', () => {
    const anchors = new Map(
      [...pages].map(([path, html]) => [path, tagsOf(html).flatMap(({ attributes }) => attributes.id ?? [])]),
    );
    each((html, path) => {
      const links = tagsOf(html)
        .filter(({ name }) => name === 'a')
        .map(({ attributes }) => attributes.href ?? '');
      expect(links.length).toBeGreaterThan(30);
      // One expect per page: calls to expect dominate this test's run time.
      const isDead = (href: string): boolean => {
        if (/^https?:\/\//.test(href) || href.endsWith('openapi.json')) return false;
        const [file = '', anchor] = href.split('#');
        const folderHere = path.slice(0, path.lastIndexOf('/') + 1);
        const to = file === '' ? path : posix.join('/', folderHere, file).slice(1).replace(/^\.$/, '');
        return !(anchor === undefined ? pages.has(to) : anchors.get(to)?.includes(anchor));
      };
      expect(links.filter(isDead), path).toEqual([]);
    });
  });

  it('complies with a Content Security Policy that allows only its own files', () => {
    each((html, path) => {
      const isForbidden = ({ name, attributes }: Tag): boolean =>
        /^(style|iframe|object|embed|base|form)$/.test(name) ||
        Object.keys(attributes).some((attribute) => attribute === 'style' || attribute.startsWith('on'));
      expect(tagsOf(html).filter(isForbidden), path).toEqual([]);
      for (const { name, attributes } of tagsOf(html).filter(({ name }) => /^(script|img|link)$/.test(name))) {
        const loaded = (name === 'link' ? attributes.href : attributes.src) ?? '';
        // The link to the Markdown version; browsers don't load it.
        const isAlternate = attributes.rel === 'alternate';
        expect(loaded, path).toMatch(isAlternate ? /^(\.\.\/)*[\w/-]+\.md$/ : /^(\.\.\/)?assets\/[\w.-]+$/);
        readFileSync(join(dist, posix.join(posix.dirname(`${path}x`), loaded)));
      }
      expect(html, path).not.toMatch(/<script(?![^>]*\ssrc=)/);
    });
  });

  it('is accessible to screen readers: one title, headings without gaps, unique IDs', () => {
    each((html, path) => {
      const levels = tagsOf(html).flatMap(({ name }) => (/^h[1-6]$/.test(name) ? [Number(name[1])] : []));
      expect(levels[0], path).toBe(1);
      expect(
        levels.filter((level) => level === 1),
        path,
      ).toHaveLength(1);
      for (const [nth, level] of levels.entries()) expect(level - (levels[nth - 1] ?? 0), path).toBeLessThanOrEqual(1);
      const ids = tagsOf(html).flatMap(({ attributes }) => attributes.id ?? []);
      expect(new Set(ids).size, `${path}: ${ids.filter((id, nth) => ids.indexOf(id) !== nth)}`).toBe(ids.length);
      for (const { name, attributes } of tagsOf(html)) if (name === 'img') expect(attributes.alt, path).toBeDefined();
    });
  });

  it('has placeholders for values that differ between servers, and only in text', () => {
    each((html, path) => {
      expect(html.match(/<[^<>]*\{firsthand:[^<>]*>/g), path).toBeNull();
      expect(html.match(/\{firsthand:(?!(root|tracker-stem|page-folder|script-tag)\})/g), path).toBeNull();
    });
    expect(pages.get('')).toContain('{firsthand:script-tag}');
    expect(pages.get('tracker')).toContain('https://shop.example/s{firsthand:tracker-stem}.full.js');
    expect(pages.get('static-site')).toContain('https://shop.example/s{firsthand:tracker-stem}.full.js');
    expect(pages.get('static-site')).toContain('that of the console: <code>{firsthand:root}</code>');
    expect(pages.get('operations')).toContain('URL={firsthand:root}');
    expect(pages.get('identify')).toContain('FIRSTHAND_URL={firsthand:root}');
    for (const name of operationNames) expect(pages.get(`reference/${name}`), name).toContain('{firsthand:root}');
    expect(pages.get('reference/logEvent')).toContain('<code>{firsthand:page-folder}picture</code>');
  });

  it('omits comments that name tests', () => {
    each((html, path) => expect(html, path).not.toMatch(/&lt;!--|<!--/));
  });

  it('lists every operationId, error code and limit', () => {
    const { paths } = openAPI({ server: '/' }) as { paths: Record<string, Record<string, { operationId: string }>> };
    const IDs = Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
    for (const ID of IDs) {
      const page = operationNames.filter((name) => ID.startsWith(name)).toSorted((a, b) => b.length - a.length)[0];
      expect(pages.get(`reference/${page}`), ID).toContain(`id="${ID}"`);
    }
    for (const code of Object.keys(errors)) expect(pages.get('reference/errors')).toContain(`id="${code}"`);
    for (const name of Object.keys(limits)) expect(pages.get('reference/limits')).toContain(`id="${name}"`);
  });

  it('is rebuilt only after a change', () => {
    const folder = mkdtempSync(join(tmpdir(), 'firsthand-docs-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    expect(isFresh(folder, sources)).toBe(false);
    markBuilt(folder, new Date());
    expect(isFresh(folder, sources)).toBe(true);
    markBuilt(folder, new Date(0));
    expect(isFresh(folder, sources)).toBe(false);
  });
});

describe('site search', () => {
  const search = createSearch(searchEntries(createSite()));
  const first = (query: string) => search(query)[0]?.to;

  it.each(operationNames)('finds %s by its name', (name) => {
    expect(first(name)).toBe(`reference/${name}`);
    expect(first(name.toLowerCase())).toBe(`reference/${name}`);
  });

  it.each(Object.keys(errors))('finds the error code %s', (code) => {
    expect(first(code)).toBe(`reference/errors#${code}`);
  });

  it.each([
    ['exactly once', 'exactly-once'],
    ['contactProof', 'identify'],
    ['erase a person', 'privacy#erase-a-person'],
    ['BACKUP_DIR', 'settings#settings'],
    ['how do I delete a contact', 'reference/eraseContact'],
    ['serchContact', 'reference/searchContact'],
  ])('finds a match for "%s": %s', (query, to) => {
    expect(search(query).map((result) => result.to)).toContain(to);
  });

  it('shows an excerpt around the query’s words', () => {
    const [result] = search('bounced');
    expect(result?.excerpt).toMatch(/^… .*a mail that bounced/);
    expect(result?.excerpt.length).toBeLessThan(130);
  });

  it('accepts queries of any content and length', () => {
    for (const query of ['', ' ', '<script>', '__proto__', '*', '\\', 'a'.repeat(100_000), 'a b '.repeat(50_000)])
      expect(search(query).length).toBeLessThanOrEqual(8);
    expect(search('zxqvwjk')).toEqual([]);
  });
});
