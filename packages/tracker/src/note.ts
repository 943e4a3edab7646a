// True until a tracker starts, so that every developer sees why one does not.
let isDebug: boolean | undefined = true;

/** Turns `note` on or off, for this page from now on. */
export const setDebug = (debug: boolean | undefined): void => {
  isDebug = debug;
};

/** Writes to the console what was left out or refused, whatever `debug` is. */
export const warn = (...what: unknown[]): void => console.warn('firsthand:', ...what);

/** Writes to the console what was left out or refused, if `debug` is on. */
export const note = (...what: unknown[]): void => {
  if (isDebug) warn(...what);
};

const warned: Record<string, string> = {};

/** As `warn`, once for each kind. */
export const warnOnce = (kind: string, ...what: unknown[]): void => {
  if (!warned[kind]) warn(...what);
  warned[kind] = kind;
};
