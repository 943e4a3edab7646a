import { scrub } from './scrub.ts';

/**
 * What may be logged of an error: its name, code and stack, causes included. A database's error carries the row that it
 * is about, and a message may quote input, so nothing else of it is kept, and tokens, e-mail addresses and query
 * strings are taken out of what is.
 */
export const describeFault = (error: unknown, depth = 0): Record<string, unknown> => {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code } = error as { code?: unknown };
  return {
    name: error.name,
    ...(typeof code === 'string' && { code: scrub(code) }),
    stack: scrub(error.stack ?? error.message),
    ...(error.cause !== undefined && depth < 4 && { cause: describeFault(error.cause, depth + 1) }),
  };
};
