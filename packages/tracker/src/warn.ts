let isDebug: boolean | undefined;

/** Turns `data-debug` on or off, for this page from now on. */
export const setDebug = (debug: boolean | undefined): void => {
  isDebug = debug;
};

/** The reasons that the console has shown. */
const warned: Record<string, unknown> = {};

/** Writes to the console what was left out or refused: once for each reason, which is an error or a text, or always with `data-debug`. */
export const warn = (reason: unknown, ...what: unknown[]): void => {
  if (isDebug || !warned[reason as string]) console.warn('firsthand:', reason, ...what);
  warned[reason as string] = 1;
};
