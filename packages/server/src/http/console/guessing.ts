/**
 * Whether others would soon guess a password. NIST SP 800-63B-4 section 3.1.1.2 asks for a list of common ones; zxcvbn (D. L. Wheeler, USENIX
 * Security 2016) estimates the guesses that an attacker needs who knows such a list, keyboards, dates, repetitions and sequences.
 */

/** Its highest score, from 10^10 guesses on: with the hashes, and 0.2 s for a guess, the work of a core for 60 years. */
const hardScore = 4;
/** Longer texts take longer: 32 characters up to 70 ms. A longer password is at least as hard to guess as its first 32 characters, and is taken for that. */
const judgedCharacters = 32;
/** Between words. Separators and capitals hardly make a password harder to guess. */
const separators = /[\s._+@-]+/g;

/** Loaded with the first password that is chosen: its words take 7 MB. */
const loadEstimator = async () => {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
};
let estimator: ReturnType<typeof loadEstimator> | undefined;

const joined = (text: string): string => text.toLowerCase().replace(separators, '');

/** `known`: what others know of its owner. */
export const isEasyToGuess = async (password: string, known: readonly string[]): Promise<boolean> => {
  estimator ??= loadEstimator().catch((error) => {
    // The next password tries again.
    estimator = undefined;
    throw error;
  });
  const judge = await estimator;
  const start = (text: string): string => [...text].slice(0, judgedCharacters).join('');
  const parts = known.flatMap((text) => [text, joined(text), ...text.split(separators)]).filter((part) => part !== '');
  return [...new Set([password, joined(password)].map(start))].some(
    (text) => text !== '' && judge.check(text, parts).score < hardScore,
  );
};
