/**
 * Prints a random sample of comments, test titles, messages, exported names and sentences, to check the English. Give
 * it to a reader who does not know the project.
 *
 *     npm run sample -- <folder> [count] [seed]
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

interface Place {
  readonly line: number;
  readonly kind: 'comment' | 'title' | 'message' | 'name' | 'sentence';
  readonly text: string;
}

const patterns: readonly { readonly kind: Place['kind']; readonly pattern: RegExp }[] = [
  { kind: 'comment', pattern: /(?<=^|[\s{([,])\/\*\*?([\s\S]*?)\*\/|(?:^[ \t]*\/\/.*\n?)+/gm },
  { kind: 'title', pattern: /\b(?:it|test|describe)(?:\.\w+(?:\(.*?\))?)*\(\s*(['"`])(.+?)\1/g },
  {
    kind: 'message',
    pattern: /(?<=[\s(,:=[{?+])(['"`])(?=\w+,? \w+,? \w)[^'"`\n]{12,}\1|(?<=>)[^<>{}\n]*\w [^<>{}\n]*\w(?=<)/g,
  },
  { kind: 'name', pattern: /^export (?:default )?(?:async )?(?:const|function\*?|class|type|interface) (\w+).*/gm },
];

const indentOf = (row: string): number => row.search(/\S/);

/** Returns the titles of the `describe` blocks around a test, outermost first: a test's title continues theirs. */
const describesAround = (rows: readonly string[]): string[] => {
  let indent = indentOf(rows.at(-1) ?? '');
  return rows
    .toReversed()
    .flatMap((row) => {
      const title = /^\s*describe\b.*?\(\s*(['"`])(.+?)\1/.exec(row)?.[2];
      if (title === undefined || indentOf(row) >= indent) return [];
      indent = indentOf(row);
      return [`${title} › `];
    })
    .toReversed();
};

const placesOfCode = (text: string): Place[] =>
  patterns.flatMap(({ kind, pattern }) =>
    [...text.matchAll(pattern)].map((match) => {
      const rows = text.slice(0, match.index + match[0].length).split('\n');
      const line = text.slice(0, match.index).split('\n').length;
      return {
        kind,
        line,
        text: kind === 'title' ? [...describesAround(rows.slice(0, line)), match[0]].join('') : match[0],
      };
    }),
  );

/** Joins the lines of each paragraph, list item and table row. */
const blocksOf = (text: string): { line: number; block: string }[] => {
  const blocks: { line: number; block: string }[] = [];
  let last = '';
  for (const [at, row] of text.split('\n').entries()) {
    const previous = blocks.at(-1);
    if (previous && last.trim() && row.trim() && !/^\s*(?:[-*|#>]|\d+\.)/.test(row)) previous.block += ` ${row.trim()}`;
    else blocks.push({ line: at + 1, block: row.trim() });
    last = row;
  }
  return blocks;
};

const placesOfDocument = (text: string): Place[] =>
  blocksOf(text.replace(/```[\s\S]*?```|<!--[\s\S]*?-->/g, (hidden) => hidden.replace(/[^\n]/g, ''))).flatMap(
    ({ line, block }) =>
      block
        .split(/(?<=[.:?!]) +/)
        .filter((sentence) => sentence.split(' ').length > 3)
        .map((sentence) => ({ kind: 'sentence', line, text: sentence }) as const),
  );

/** Random numbers from 0 to 1 (mulberry32): the same seed draws the same places. */
const createRandom = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

const [folder = '.', count = '100', seed = '1'] = process.argv.slice(2);
const random = createRandom(Number(seed));
execFileSync('git', ['ls-files', '--', folder], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.(?:ts|tsx|md)$/.test(path))
  .flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    const places = path.endsWith('.md') ? placesOfDocument(text) : placesOfCode(text);
    return places.map((place) => ({ path, order: random(), ...place }));
  })
  .sort((a, b) => a.order - b.order)
  .slice(0, Number(count))
  .forEach(({ path, line, kind, text }, nth) => {
    const shown = text.replace(/\s*\n[ \t*/]*/g, ' ').trim();
    console.info(`${nth + 1}. ${kind}, ${path}:${line}\n   ${shown.slice(0, 400)}`);
  });
