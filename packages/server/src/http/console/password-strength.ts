/**
 * Estimates how easy a password is to guess. NIST SP 800-63B-4 section 3.1.1.2 requires a blocklist of common
 * passwords. zxcvbn (D. L. Wheeler, USENIX Security 2016) also covers keyboard patterns, dates, repetitions and
 * sequences.
 */

/** The highest score, at least 10^10 guesses: at 0.2 s per hash, one core needs 60 years. */
const strongScore = 4;
/** 32 characters take up to 70 ms. A longer password is at least as hard to guess as its first 32 characters. */
const maxScoredCharacters = 32;
/** Separates words. Separators and capitals add little strength. */
const separators = /[\s._+@-]+/g;

/** Loaded lazily, because the word lists take 7 MB. */
const loadEstimator = async () => {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
};
let estimator: ReturnType<typeof loadEstimator> | undefined;

const joined = (text: string): string => text.toLowerCase().replace(separators, '');

/** `personal` lists facts about the owner that other people might know, such as the e-mail address and the name. */
export const isEasyToGuess = async (password: string, personal: readonly string[]): Promise<boolean> => {
  estimator ??= loadEstimator().catch((error) => {
    // The next check tries to load it again.
    estimator = undefined;
    throw error;
  });
  const scorer = await estimator;
  const start = (text: string): string => [...text].slice(0, maxScoredCharacters).join('');
  const parts = personal
    .flatMap((text) => [text, joined(text), ...text.split(separators)])
    .filter((part) => part !== '');
  return [...new Set([password, joined(password)].map(start))].some(
    (text) => text !== '' && scorer.check(text, parts).score < strongScore,
  );
};
