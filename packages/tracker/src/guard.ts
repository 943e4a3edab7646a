import { warn } from './warn.ts';

/**
 * Throws the reason unless the condition is met; `guard` then drops the call. The reason is text, because consoles add
 * a stack to an error.
 */
export const demand = (isMet: unknown, reason: string): void => {
  if (!isMet) throw reason;
};

/**
 * Wraps a function that the page or one of its events calls: if it throws, the error is shown in the console instead.
 */
export const guard =
  <Args extends unknown[], Result>(call: (...args: Args) => Result) =>
  (...args: Args): Result | undefined => {
    try {
      return call(...args);
    } catch (error) {
      warn(error, ...args);
    }
  };
