/**
 * Whether others would soon guess a password. NIST SP 800-63B-4 section 3.1.1.2 asks for a list of common ones; zxcvbn (D. L. Wheeler, USENIX
 * Security 2016) estimates the guesses that an attacker needs who knows such a list, keyboards, dates, repetitions and sequences.
 */

/** Its highest score, from 10^10 guesses on: with the hashes, and 0.2 s for a guess, the work of a core for 60 years. */
const hardScore = 4;
/**
 * The estimate takes the longer the more characters there are, for 32 up to 70 ms. What begins with so many that are hard to guess is no easier
 * as a whole.
 */
const judgedCharacters = 32;
/** People put them between words, and begin words with capitals: what is easy without these is so with them. */
const separators = /[\s._-]+/g;

/** Loaded with the first password that is chosen: its words take 7 MB. */
const loadEstimator = async () => {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
};
let estimator: ReturnType<typeof loadEstimator> | undefined;

/** `known`: what others know of its owner. */
export const isEasyToGuess = async (password: string, known: readonly string[]): Promise<boolean> => {
  estimator ??= loadEstimator();
  const judge = await estimator;
  const start = (text: string): string => [...text].slice(0, judgedCharacters).join('');
  return [password, password.toLowerCase().replace(separators, '')].some(
    (text) => text !== '' && judge.check(start(text), [...known]).score < hardScore,
  );
};
