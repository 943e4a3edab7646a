/**
 * Searches for the single-letter variable names that give the smallest scripts, and writes them to `names.json` for
 * later builds. It starts from the current letters, if they still fit.
 *
 * `npm run names` takes a few minutes; `npm run names 6000` tries 6,000 changes.
 */
import { writeFile } from 'node:fs/promises';
import { areValidNames, minifyScript, nameVariables, numberVariables, readChosenNames, toBrotli } from './bundle.ts';
import { findConflicts } from './conflicts.ts';

const attempts = Number(process.argv[2] ?? 9_000);

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ$_';

const randomBelow = (below: number): number => Math.floor(below * Math.random());

/** Returns the letter of each variable in a script, by its number in the numbered script. */
const readNames = (script: string, numbered: string): string[] => {
  const names: string[] = [];
  let position = 0;
  for (const [, number] of numbered.matchAll(/\$(\d+)\$|./gs)) {
    if (number !== undefined) names[Number(number)] = script[position] as string;
    position += 1;
  }
  return names;
};

/**
 * Swaps one variable's letter with another letter, and does the same for all variables that would then conflict (a
 * Kempe chain), so the letters stay valid. One time in ten, it swaps two letters everywhere.
 */
const mutate = (names: readonly string[], conflicts: readonly number[][]): string[] => {
  const first = randomBelow(names.length);
  const from = names[first] as string;
  const to = (randomBelow(7) ? names[randomBelow(names.length)] : letters[randomBelow(letters.length)]) as string;
  const chain = new Set(randomBelow(10) ? [first] : names.keys());
  for (const number of chain)
    for (const other of conflicts[number] as number[])
      if ([from, to].includes(names[other] as string)) chain.add(other);
  const swap = (name: string): string => (name === from ? to : name === to ? from : name);
  return names.map((name, number) => (chain.has(number) ? swap(name) : name));
};

/**
 * Finds the best letters by simulated annealing (Kirkpatrick et al. 1983): a change that adds a byte or two is
 * sometimes accepted, but less and less often.
 */
const findNames = async (entry: string): Promise<string> => {
  const script = await minifyScript(entry);
  const numbered = await numberVariables(script);
  const conflicts = findConflicts(numbered);
  const sizeOf = (names: readonly string[]) => toBrotli(Buffer.from(nameVariables(numbered, names.join('')))).length;
  let names = (await areValidNames(numbered, readChosenNames(entry)))
    ? [...readChosenNames(entry)]
    : readNames(script, numbered);
  let size = sizeOf(names);
  let best = names;
  let bestSize = size;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const candidate = mutate(names, conflicts);
    const candidateSize = sizeOf(candidate);
    // 0.5 is empirical: at 1.2, the search lost earlier gains and saved 30 bytes less.
    const temperature = 0.5 * (1 - attempt / attempts) ** 2;
    if (Math.random() >= Math.exp((size - candidateSize) / temperature)) continue;
    names = candidate;
    size = candidateSize;
    if (size >= bestSize) continue;
    best = names;
    bestSize = size;
    console.log(`${entry}: ${bestSize} bytes after ${attempt} attempts`);
  }
  if (!(await areValidNames(numbered, best.join('')))) throw new Error(`findConflicts missed a conflict in ${entry}`);
  return best.join('');
};

const namesByEntry = {
  browser: await findNames('browser'),
  full: await findNames('full'),
  domains: await findNames('domains'),
};
await writeFile(new URL('names.json', import.meta.url), `${JSON.stringify(namesByEntry, null, 2)}\n`);
