/**
 * Searches for the letters with which the scripts are smallest, and writes them to `names.json` for the next builds. It starts from
 * the letters that are there, if they still fit. `npm run names`, some minutes; `npm run names 6000` tries 6,000 changes.
 */
import { writeFile } from 'node:fs/promises';
import { areRight, chosenNames, minifyScript, nameVariables, numberVariables, toBrotli } from './bundle.ts';
import { conflictsOf } from './conflicts.ts';

const tries = Number(process.argv[2] ?? 9_000);

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ$_';

const random = (below: number): number => Math.floor(below * Math.random());

/** The letters of a script's variables, by number. In the numbered script each variable stands where its one letter was. */
const readNames = (script: string, numbered: string): string[] => {
  const names: string[] = [];
  let at = 0;
  for (const [, number] of numbered.matchAll(/\$(\d+)\$|./gs)) {
    if (number !== undefined) names[Number(number)] = script[at] as string;
    at += 1;
  }
  return names;
};

/**
 * Gives one variable another letter, and the other way round to all that would conflict with it, and with those, and so on (a Kempe
 * chain): the letters are right again. One time in ten exchanges two letters everywhere.
 */
const change = (names: readonly string[], conflicts: readonly number[][]): string[] => {
  const first = random(names.length);
  const from = names[first] as string;
  const to = (random(7) ? names[random(names.length)] : letters[random(letters.length)]) as string;
  const chain = new Set(random(10) ? [first] : names.keys());
  for (const number of chain)
    for (const other of conflicts[number] as number[])
      if ([from, to].includes(names[other] as string)) chain.add(other);
  const swap = (name: string): string => (name === from ? to : name === to ? from : name);
  return names.map((name, number) => (chain.has(number) ? swap(name) : name));
};

/**
 * Simulated annealing (Kirkpatrick et al. 1983): a change that makes the script a byte or two larger may be kept at first, and less
 * often later. Returns the best letters found.
 */
const findNames = async (entry: string): Promise<string> => {
  const script = await minifyScript(entry);
  const numbered = await numberVariables(script);
  const conflicts = conflictsOf(numbered);
  const sizeOf = (names: readonly string[]) => toBrotli(Buffer.from(nameVariables(numbered, names.join('')))).length;
  let names = (await areRight(numbered, chosenNames(entry))) ? [...chosenNames(entry)] : readNames(script, numbered);
  let size = sizeOf(names);
  let best = names;
  let bestSize = size;
  for (let nth = 0; nth < tries; nth++) {
    const changed = change(names, conflicts);
    const changedSize = sizeOf(changed);
    // Found by trying: at 1.2, the search lost what it had and saved 30 bytes less.
    const warmth = 0.5 * (1 - nth / tries) ** 2;
    if (Math.random() >= Math.exp((size - changedSize) / warmth)) continue;
    names = changed;
    size = changedSize;
    if (size >= bestSize) continue;
    best = names;
    bestSize = size;
    console.log(`${entry}: ${bestSize} after ${nth}`);
  }
  if (!(await areRight(numbered, best.join('')))) throw new Error(`conflictsOf has missed a conflict of ${entry}`);
  return best.join('');
};

const found = {
  browser: await findNames('browser'),
  full: await findNames('full'),
  domains: await findNames('domains'),
};
await writeFile(new URL('names.json', import.meta.url), `${JSON.stringify(found, null, 2)}\n`);
