/**
 * js-cookie without what no call of ours can reach: the check for a missing document (the tracker doesn't start without one),
 * `get` without a name, `remove`, `withAttributes`, `withConverter`, a guard against attributes named `__proto__`, and the
 * escaping of names and values: of the only cookie that we read and write, neither has anything to escape. What is left is
 * js-cookie's own text. Another version of it that reads otherwise fails the build, and not a page.
 */
import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

const unreachable: { readonly pattern: RegExp; readonly instead: string }[] = [
  {
    pattern: /var defaultConverter = \{[\s\S]*?\n\};\n/,
    instead: 'var defaultConverter = { read: (v) => v, write: (v) => v };\n',
  },
  { pattern: / {4}name = encodeURIComponent\(name\)\n.*\n.*escape\);\n/, instead: '' },
  { pattern: /decodeURIComponent\(parts\[0\]\)/, instead: 'parts[0]' },
  { pattern: / {6}if \(key === '__proto__'\) continue\n/, instead: '' },
  { pattern: / {4}if \(typeof document === 'undefined'\) \{\n {6}return\n {4}\}\n/, instead: '' },
  {
    pattern: / {4}if \(typeof document === 'undefined' \|\| \(arguments\.length && !name\)\) \{\n {6}return\n {4}\}\n/,
    instead: '',
  },
  { pattern: /return name \? jar\[name\] : jar\n/, instead: 'return jar[name]\n' },
  {
    pattern: / {2}return Object\.create\(\n {4}\{\n {6}set: set,\n {6}get: get,[\s\S]*?\n {2}\)\n\}/,
    instead: '  return { set, get }\n}',
  },
];

export const pruneJsCookie: Plugin = {
  name: 'prune js-cookie',
  setup: (build) => {
    build.onLoad({ filter: /js-cookie[\\/]dist[\\/]js\.cookie\.mjs$/ }, async ({ path }) => {
      let contents = await readFile(path, 'utf8');
      for (const { pattern, instead } of unreachable) {
        if (!pattern.test(contents)) throw new Error(`js-cookie has changed: ${pattern} is nowhere in ${path}`);
        contents = contents.replace(pattern, instead);
      }
      return { contents };
    });
  },
};
