/**
 * js-cookie and nanoid for our scripts: without the code that no call of ours needs. js-cookie's `document` is
 * `src/document.ts`, which no element of the page can replace. All calls of js-cookie are in `src/identity/cookie.ts`: `get` of one name,
 * and `set` with a new object of attributes, all of them text. Neither name nor value has anything to escape. The rest is the
 * packages' own text. A version of a package with another text fails the build.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

const unneededInJsCookie: { readonly why: string; readonly pattern: RegExp; readonly instead: string }[] = [
  {
    why: 'Copies attributes, which are made for each call.',
    pattern: /function assign \(target\) \{[\s\S]*?\n\}\n/,
    instead: '',
  },
  {
    why: 'The only default is the path, and we say it.',
    pattern: / {4}attributes = assign\(\{\}, defaultAttributes, attributes\);\n/,
    instead: '',
  },
  { why: 'Nothing to escape.', pattern: /var defaultConverter = \{[\s\S]*?\n\};\n/, instead: '' },
  { why: 'Nothing to escape.', pattern: / {4}name = encodeURIComponent\(name\)\n.*\n.*escape\);\n/, instead: '' },
  { why: 'Nothing to escape.', pattern: /converter\.write\(value, name\)/, instead: 'value' },
  {
    why: 'The tracker starts in documents only.',
    pattern: / {4}if \(typeof document === 'undefined'\) \{\n {6}return\n {4}\}\n/,
    instead: '',
  },
  {
    why: 'The tracker starts in documents only, and always says a name.',
    pattern: / {4}if \(typeof document === 'undefined' \|\| \(arguments\.length && !name\)\) \{\n {6}return\n {4}\}\n/,
    instead: '',
  },
  {
    why: 'We say `max-age`.',
    pattern: / {4}if \(typeof attributes\.expires === 'number'\) \{[\s\S]*?toUTCString\(\);\n {4}\}\n/,
    instead: '',
  },
  {
    why: '`secure` has a meaning whatever its value (RFC 6265, 5.2.5).',
    pattern: / {6}if \(attributes\[attributeName\] === true\) \{\n {8}continue\n {6}\}\n/,
    instead: '',
  },
  {
    why: 'No attribute of ours has a semicolon.',
    pattern: /attributes\[attributeName\]\.split\(';'\)\[0\]/,
    instead: 'attributes[attributeName]',
  },
  {
    why: 'Where there are no cookies, one without a name is none of ours.',
    pattern: /document\.cookie \? document\.cookie\.split\('; '\) : \[\]/,
    instead: "document.cookie.split('; ')",
  },
  {
    why: 'A value of ours has no =. Of one that has, the text before it is as good.',
    pattern: /parts\.slice\(1\)\.join\('='\)/,
    instead: 'parts[1]',
  },
  {
    why: 'The first cookie of that name is the answer; there is nothing to decode, which could throw.',
    pattern: / {4}var jar = \{\};\n([\s\S]*?)\n {6}try \{[\s\S]*?\n {4}\}\n\n {4}return name \? jar\[name\] : jar\n/,
    instead: '$1\n      if (parts[0] === name) return value\n    }\n',
  },
  {
    why: 'One pair of functions, and no others.',
    pattern:
      /function init\(converter, defaultAttributes\) \{\n([\s\S]*?)\n {2}return Object\.create\([\s\S]*?\n {2}\)\n\}/,
    instead: '$1',
  },
  { why: 'As above.', pattern: /var api = init\(.*\);/, instead: 'var api = { set, get };' },
];

const unneededInNanoid: typeof unneededInJsCookie = [
  { why: 'Our calls say the size, an integer.', pattern: /nanoid = \(size = 21\)/, instead: 'nanoid = (size)' },
  { why: 'As above.', pattern: /\(size \|= 0\)/, instead: 'size' },
];

const documentModule = fileURLToPath(new URL('../src/document.ts', import.meta.url));

const prune = async (path: string, unneeded: typeof unneededInJsCookie): Promise<string> => {
  let contents = await readFile(path, 'utf8');
  for (const { pattern, instead } of unneeded) {
    if (!pattern.test(contents)) throw new Error(`the package has changed: ${pattern} is nowhere in ${path}`);
    contents = contents.replace(pattern, instead);
  }
  return contents;
};

export const prunePackages: Plugin = {
  name: 'prune packages',
  setup: (build) => {
    build.onLoad({ filter: /js-cookie[\\/]dist[\\/]js\.cookie\.mjs$/ }, async ({ path }) => ({
      contents: `import { safeDocument as document } from ${JSON.stringify(documentModule)};\n${await prune(path, unneededInJsCookie)}`,
    }));
    build.onLoad({ filter: /nanoid[\\/]index\.browser\.js$/ }, async ({ path }) => ({
      contents: await prune(path, unneededInNanoid),
    }));
  },
};
