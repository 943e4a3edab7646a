import { note } from './note.ts';

/** A call of the page, or of one of its events, that does nothing worse than say why when it can't be done. */
export const guard =
  <Args extends unknown[]>(call: (...args: Args) => void) =>
  (...args: Args): void => {
    try {
      call(...args);
    } catch (error) {
      note('dropped:', ...args, error);
    }
  };
