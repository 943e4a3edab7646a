/** Consequences of a revocation in words. Pure functions. */

/** A sentence on the sessions that end with the token that signed in; '' if there are none. */
export const sessionsInWords = (sessions: number, isOwnAmongThem: boolean): string => {
  if (sessions === 0) return '';
  if (sessions > 1)
    return `${sessions} sessions of the console were started with it and end too.${isOwnAmongThem ? ' Yours is one of them: you will be signed out.' : ''}`;
  return isOwnAmongThem
    ? 'Your session of the console was started with it: you will be signed out.'
    : 'A session of the console was started with it and ends too.';
};

const maxNames = 6;

/** At most six names, and how many further ones there are. */
export const namesInWords = (names: readonly string[]): string => {
  const further = names.length - maxNames;
  const shown = names.slice(0, maxNames).join(', ');
  return further > 0 ? `${shown} and ${further} more` : shown;
};

/** What else a revocation may end: tokens, and the share links that a token which may share has made. */
export const madeInWords = (tokens: number, mayShare: boolean): string => {
  const links = mayShare ? 'the share links' : '';
  const made = tokens === 0 ? '' : tokens === 1 ? 'the token' : `the ${tokens} tokens`;
  return [made, links].filter(Boolean).join(' and ');
};
