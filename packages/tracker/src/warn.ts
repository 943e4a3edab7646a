let isDebug: boolean | undefined;

/** Turns `data-debug` on or off for this page. */
export const setDebug = (debug: boolean | undefined): void => {
  isDebug = debug;
};

/** Reasons already shown in the console. */
const warned: Record<string, unknown> = {};

/**
 * Warns in the console about dropped or refused data: once per reason (an error or a string), or every time with
 * `data-debug`.
 */
export const warn = (reason: unknown, ...details: unknown[]): void => {
  if (isDebug || !warned[reason as string]) console.warn('firsthand:', reason, ...details);
  warned[reason as string] = 1;
};
