/** Describes the consequences of a revocation in words. Pure functions. */

/** Describes the sessions that end when the token that started them is revoked; '' if there are none. */
export const describeSessions = (sessions: number, includesOwnSession: boolean): string => {
  if (sessions === 0) return '';
  if (sessions > 1)
    return `${sessions} console sessions were started with this token and will end too.${includesOwnSession ? ' One of them is yours: you will be signed out.' : ''}`;
  return includesOwnSession
    ? 'Your session was started with this token: you will be signed out.'
    : 'A console session was started with this token and will end too.';
};

const maxNames = 6;

/** Lists at most six names, and how many more there are. */
export const joinNames = (names: readonly string[]): string => {
  const remaining = names.length - maxNames;
  const shown = names.slice(0, maxNames).join(', ');
  return remaining > 0 ? `${shown} and ${remaining} more` : shown;
};

/** Describes what else can be revoked: the tokens that a token created and, if it may share, its share links. */
export const describeCreated = (tokens: number, mayShare: boolean): string => {
  const links = mayShare ? 'the share links' : '';
  const createdTokens = tokens === 0 ? '' : tokens === 1 ? 'the token' : `the ${tokens} tokens`;
  return [createdTokens, links].filter(Boolean).join(' and ');
};
