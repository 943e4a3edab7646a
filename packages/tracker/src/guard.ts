import { warn } from './warn.ts';

/**
 * Throws `reason` unless the condition is met; `guard` then drops the call. It throws a string, because consoles print
 * a stack trace for an Error.
 */
export const demand = (isMet: unknown, reason: string): void => {
  if (!isMet) throw reason;
};

/**
 * Wraps a function that the page or one of its events calls. If the function throws, the error is only shown in the
 * console.
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
