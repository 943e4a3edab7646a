import { warn } from './warn.ts';

/** Throws the reason, a text because consoles add a stack to an error, unless the condition is met. The call is then dropped by `guard`. */
export const demand = (isMet: unknown, reason: string): void => {
  if (!isMet) throw reason;
};

/** Wraps a function that the page or one of its events calls. If it throws, the console shows the error instead. */
export const guard =
  <Args extends unknown[], Result>(call: (...args: Args) => Result) =>
  (...args: Args): Result | undefined => {
    try {
      return call(...args);
    } catch (error) {
      warn(error, ...args);
    }
  };
