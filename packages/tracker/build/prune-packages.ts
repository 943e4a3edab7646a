/**
 * Removes the js-cookie and nanoid code that our calls don't need, and gives js-cookie `src/document.ts` as its
 * `document`, which page elements can't change. The build fails if a new version of a package lacks the code to be
 * replaced.
 *
 * All calls to js-cookie are in `src/identity/cookie.ts`: `get` with a name, and `set` with a new object of attributes,
 * which are all strings. Neither names nor values need escaping.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

/** A pattern that matches part of a package's code, and its replacement. */
type Change = readonly [pattern: RegExp, replacement: string];

const jsCookieChanges: readonly Change[] = [
  // All supported browsers have for…of.
  [
    /for \(var i = 0; i < cookies.length; i\+\+\) \{\n.*split\('='\);/,
    "for (var cookie of cookies) {\n      var parts = cookie.split('=');",
  ],
  // Our calls always pass a new object with a path, which is the only default, so there is nothing to merge.
  [/ {4}attributes = assign\(\{\}, defaultAttributes, attributes\);\n/, ''],
  // Our names and values need no escaping.
  [/ {4}name = encodeURIComponent\(name\)\n.*\n.*escape\);\n/, ''],
  [/converter\.write\(value, name\)/, 'value'],
  // The tracker only starts in documents, and always passes a name.
  [/ {4}if \(typeof document === 'undefined'\) \{\n {6}return\n {4}\}\n/, ''],
  [/ {4}if \(typeof document === 'undefined' \|\| \(arguments\.length && !name\)\) \{\n {6}return\n {4}\}\n/, ''],
  // Our calls set `max-age` instead of `expires`.
  [/ {4}if \(typeof attributes\.expires === 'number'\) \{[\s\S]*?toUTCString\(\);\n {4}\}\n/, ''],
  // `secure` applies with any value (RFC 6265, 5.2.5). None of our attributes contains a semicolon.
  [/ {6}if \(attributes\[attributeName\] === true\) \{\n {8}continue\n {6}\}\n/, ''],
  [/attributes\[attributeName\]\.split\(';'\)\[0\]/, 'attributes[attributeName]'],
  // If the page has no cookies, this yields a cookie with an empty name, which never matches ours.
  [/document\.cookie \? document\.cookie\.split\('; '\) : \[\]/, "document.cookie.split('; ')"],
  // Our values contain no `=`. For other cookies, only the name is used.
  [/parts\.slice\(1\)\.join\('='\)/, 'parts[1]'],
  // The first cookie with that name wins. Its value needs no decoding, so this cannot throw.
  [
    / {4}var jar = \{\};\n([\s\S]*?)\n {6}try \{[\s\S]*?\n {4}\}\n\n {4}return name \? jar\[name\] : jar\n/,
    '$1\n      if (parts[0] === name) return value\n    }\n',
  ],
  // We need only one `set` and `get` pair, so no function that creates such pairs.
  [
    /function init\(converter, defaultAttributes\) \{\n([\s\S]*?)\n {2}return Object\.create\([\s\S]*?\n {2}\)\n\}/,
    '$1',
  ],
  [/var api = init\(.*\);/, 'var api = { set, get };'],
];

// The alphabet has 16 characters, so each random byte yields one. All calls pass a size other than 0.
const nanoidChanges: readonly Change[] = [
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
  for (const [pattern, replacement] of changes) {
    if (!pattern.test(contents))
      throw new Error(`${path} has changed: it no longer matches ${pattern}; update the changes in prune-packages.ts`);
    contents = contents.replace(pattern, replacement);
  }
  return contents;
};

export const prunePackages: Plugin = {
  name: 'prune packages',
  setup: (build) => {
    // Imported by a name instead of a path, because the published source maps contain the import.
    build.onResolve({ filter: /^safe-document$/ }, () => ({ path: documentModule }));
    build.onLoad({ filter: /js-cookie[\\/]dist[\\/]js\.cookie\.mjs$/ }, async ({ path }) => ({
      contents: `import { safeDocument as document } from 'safe-document';\n${await prune(path, jsCookieChanges)}`,
    }));
    build.onLoad({ filter: /nanoid[\\/]index\.browser\.js$/ }, async ({ path }) => ({
      contents: await prune(path, nanoidChanges),
    }));
  },
};
