/**
 * Looks for the letters with which the scripts are smallest, and writes them to `names.json` for the builds to come:
 * `npm run names`, some minutes; it goes on from those that are there. `npm run names 6000 991` tries 6,000 times, with the seed
 * 991. As long as a script has as many variables, its letters hold; where they don't, the build takes terser's own, and
 * `npm run check` says that it is too large.
 */
import { writeFile } from 'node:fs/promises';
import { bundleScript, chosenNames, toBrotli } from './bundle.ts';
import { isRight, type Renaming, readNames } from './rename.ts';

const tries = Number(process.argv[2] ?? 9_000);
const seed = Number(process.argv[3] ?? 77_777);

/** The same numbers each time (xorshift32, Marsaglia 2003). */
const createRandom = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * below);
  };
};

/** Everywhere one letter for the other, and the other way round. */
const exchange = (names: string, one: string, other: string): string =>
  [...names].map((name) => (name === one ? other : name === other ? one : name)).join('');

/** Another letter for one variable; what meets it and has that letter, takes its old one. */
const giveLetter = ({ conflicts }: Renaming, names: string, number: number, letter: string): string => {
  const others = conflicts[number] ?? [];
  return [...names]
    .map((name, at) => (at === number ? letter : name === letter && others.includes(at) ? names[number] : name))
    .join('');
};

/**
 * Simulated annealing (Kirkpatrick et al. 1983): what makes the script a byte or two larger may be kept at first, and less and
 * less of it later. Answers the best that was met.
 */
const findNames = (entry: string, renaming: Renaming, start: string): string => {
  const random = createRandom(seed);
  const sizeOf = (names: string) => toBrotli(Buffer.from(renaming.rename(names))).length;
  let best = start;
  let bestSize = sizeOf(best);
  let names = best;
  let size = bestSize;
  for (let nth = 0; nth < tries; nth++) {
    const anyLetter = () => renaming.letters[random(renaming.letters.length)] as string;
    const changed =
      random(4) === 0
        ? exchange(names, anyLetter(), anyLetter())
        : giveLetter(
            renaming,
            names,
            random(names.length),
            random(5) === 0 ? anyLetter() : (names[random(names.length)] as string),
          );
    if (changed === names || !isRight(renaming, changed)) continue;
    const changedSize = sizeOf(changed);
    // Found by trying: at 1.2, it forgot what it had and found 30 bytes less.
    const warmth = 0.5 * (1 - nth / tries) ** 2;
    if (changedSize > size && Math.log(random(2 ** 31) / 2 ** 31) * warmth > size - changedSize) continue;
    if (changedSize > size && warmth < 0.05) continue;
    names = changed;
    size = changedSize;
    if (size >= bestSize) continue;
    best = names;
    bestSize = size;
    console.log(`${entry}: ${bestSize} after ${nth}`);
  }
  return best;
};

const found: Record<string, string> = {};
for (const entry of ['browser', 'full']) {
  const renaming = readNames(`${await bundleScript(entry, { names: '' })}`);
  const chosen = chosenNames(entry);
  found[entry] = findNames(entry, renaming, isRight(renaming, chosen) ? chosen : renaming.names);
}
await writeFile(new URL('names.json', import.meta.url), `${JSON.stringify(found, null, 2)}\n`);
