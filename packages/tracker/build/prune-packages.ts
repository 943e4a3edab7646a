/**
 * js-cookie and nanoid for our scripts: without the code that no call of ours needs. js-cookie's `document` is
 * `src/document.ts`, which no element of the page can replace. All calls of js-cookie are in `src/identity/cookie.ts`: `get` of one name,
 * and `set` with a new object of attributes, all of them text. Neither name nor value has anything to escape. The rest is the
 * packages' own text. A version of a package with another text fails the build.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

/** What is left out of a package's text, and what stands there instead. */
type Change = readonly [unneeded: RegExp, instead: string];

const inJsCookie: readonly Change[] = [
  // The browsers that we know have for…of.
  [
    /for \(var i = 0; i < cookies.length; i\+\+\) \{\n.*split\('='\);/,
    "for (var cookie of cookies) {\n      var parts = cookie.split('=');",
  ],
  // The attributes are made for each call, and the only default is the path, which we say.
  [/ {4}attributes = assign\(\{\}, defaultAttributes, attributes\);\n/, ''],
  // Nothing to escape.
  [/ {4}name = encodeURIComponent\(name\)\n.*\n.*escape\);\n/, ''],
  [/converter\.write\(value, name\)/, 'value'],
  // The tracker starts in documents only, and always says a name.
  [/ {4}if \(typeof document === 'undefined'\) \{\n {6}return\n {4}\}\n/, ''],
  [/ {4}if \(typeof document === 'undefined' \|\| \(arguments\.length && !name\)\) \{\n {6}return\n {4}\}\n/, ''],
  // We say `max-age`.
  [/ {4}if \(typeof attributes\.expires === 'number'\) \{[\s\S]*?toUTCString\(\);\n {4}\}\n/, ''],
  // `secure` has a meaning whatever its value (RFC 6265, 5.2.5). No attribute of ours has a semicolon.
  [/ {6}if \(attributes\[attributeName\] === true\) \{\n {8}continue\n {6}\}\n/, ''],
  [/attributes\[attributeName\]\.split\(';'\)\[0\]/, 'attributes[attributeName]'],
  // Where there are no cookies, one without a name is none of ours.
  [/document\.cookie \? document\.cookie\.split\('; '\) : \[\]/, "document.cookie.split('; ')"],
  // A value of ours has no =. Of one that has, the text before it is as good.
  [/parts\.slice\(1\)\.join\('='\)/, 'parts[1]'],
  // The first cookie of that name is the answer; there is nothing to decode, which could throw.
  [
    / {4}var jar = \{\};\n([\s\S]*?)\n {6}try \{[\s\S]*?\n {4}\}\n\n {4}return name \? jar\[name\] : jar\n/,
    '$1\n      if (parts[0] === name) return value\n    }\n',
  ],
  // One pair of functions, and no others.
  [
    /function init\(converter, defaultAttributes\) \{\n([\s\S]*?)\n {2}return Object\.create\([\s\S]*?\n {2}\)\n\}/,
    '$1',
  ],
  [/var api = init\(.*\);/, 'var api = { set, get };'],
];

// The alphabet has 16 characters, so that each random byte gives one. All calls say the size, which is not 0.
const inNanoid: readonly Change[] = [
  [/, defaultSize, getRandom\) => \{\n.*\n\n.*\n/, ') => {\n'],
  [/getRandom\(size\)/, 'crypto.getRandomValues(new Uint8Array(size))'],
  [/\(size = defaultSize\) => \{\n.*\n/, '(size) => {\n'],
  [
    / {6}while \(true\) \{\n( {8}let bytes.*\n) {8}let j = size\n {8}while \(j--\) \{\n( {10}id .*) & mask\]\n.*\n([\s\S]*?) {4}\}\n {2}\}\n[\s\S]*?\n\}\n/,
    '$1        while (size--) {\n$2 & mask]\n        }\n      return id\n    }\n}\n',
  ],
  [/\[j\] & mask/, '[size] & mask'],
  [
    /\(alphabet, size = 21\) =>\n {2}customRandom\(alphabet, size \| 0, random\)/,
    '(alphabet) => customRandom(alphabet)',
  ],
];

const documentModule = fileURLToPath(new URL('../src/document.ts', import.meta.url));

const prune = async (path: string, changes: readonly Change[]): Promise<string> => {
  let contents = await readFile(path, 'utf8');
  for (const [unneeded, instead] of changes) {
    if (!unneeded.test(contents)) throw new Error(`the package has changed: ${unneeded} is nowhere in ${path}`);
    contents = contents.replace(unneeded, instead);
  }
  return contents;
};

export const prunePackages: Plugin = {
  name: 'prune packages',
  setup: (build) => {
    // Not by its path: source maps hold this text, and are published.
    build.onResolve({ filter: /^safe-document$/ }, () => ({ path: documentModule }));
    build.onLoad({ filter: /js-cookie[\\/]dist[\\/]js\.cookie\.mjs$/ }, async ({ path }) => ({
      contents: `import { safeDocument as document } from 'safe-document';\n${await prune(path, inJsCookie)}`,
    }));
    build.onLoad({ filter: /nanoid[\\/]index\.browser\.js$/ }, async ({ path }) => ({
      contents: await prune(path, inNanoid),
    }));
  },
};
