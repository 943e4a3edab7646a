import { scrub } from './scrub.ts';

/**
 * Returns the parts of an error that may be logged: its name, code and stack, and the same parts of its causes. They
 * are scrubbed, because a message might quote input. Other properties are omitted, because a database error contains
 * the row.
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
