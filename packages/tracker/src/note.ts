// Until a tracker starts, so that every developer reads why one does not.
let isDebug: boolean | undefined = true;

/** Has `note` speak or be silent, on this page from now on. */
export const setDebug = (debug: boolean | undefined): void => {
  isDebug = debug;
};

/** Tells the developer who turned `debug` on, in the console, what was left out or refused. */
export const note = (...what: unknown[]): void => {
  if (isDebug) console.warn('firsthand:', ...what);
};
