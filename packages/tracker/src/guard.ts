import { note } from './note.ts';

/** What isn't met is a reason to drop what was asked: see `guard`. */
export const demand = (isMet: unknown, reason: string): void => {
  if (!isMet) throw Error(reason);
};

/** A call of the page, or of one of its events, that does nothing worse than say why when it can't be done. */
export const guard =
  <Args extends unknown[], Result>(call: (...args: Args) => Result) =>
  (...args: Args): Result | undefined => {
    try {
      return call(...args);
    } catch (error) {
      note(...args, error);
    }
  };
