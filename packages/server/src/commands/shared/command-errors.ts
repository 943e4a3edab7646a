/** The exit codes and messages of commands that fail. */
import { userInfo } from 'node:os';
import { CommanderError } from 'commander';

/** The flags or variables of a command are invalid. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}

/** The exit code: 0 after help was printed on request, 2 for wrong usage, 1 for other failures. */
export const exitCodeOf = (error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return error instanceof Error && ['WrongUsage', 'BadConfiguration'].includes(error.name) ? 2 : 1;
};

type ErrorWithCause = Error & { readonly code?: unknown; readonly cause?: unknown };

/** Whether the error, or one of its causes, is a missing file permission. */
const isForbidden = (error: unknown): boolean =>
  error instanceof Error &&
  (['EACCES', 'EPERM'].includes(String((error as ErrorWithCause).code)) ||
    isForbidden((error as ErrorWithCause).cause));

const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user without a name.
    return String(process.getuid?.());
  }
};

/** The message of an error for the user of a command; with the environment variable DEBUG, its stack. */
export const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (process.env.DEBUG) return error.stack ?? error.message;
  const { message, field } = error as Error & { field?: unknown };
  const text = typeof field === 'string' && !message.includes(field) ? `${field}: ${message}` : message;
  return isForbidden(error) ? `${text} (this command runs as user ${userName()})` : text;
};

/**
 * The error for the user of a command that works on the database itself. A server's response has no cause, because clients read it; on
 * the command line the cause is what helps.
 */
export const withCause = (error: unknown, databaseURL: string): unknown => {
  const { name, code, cause } = error as ErrorWithCause;
  if (name !== 'Refusal' || code !== 'unavailable') return error;
  const file = /^sqlite:(.+)$/.exec(databaseURL)?.[1];
  const reason = cause instanceof Error ? `: ${cause.message || String((cause as ErrorWithCause).code)}` : '';
  const causeCode = String((cause as ErrorWithCause | undefined)?.code ?? '');
  if (file === undefined) {
    const isDown = /^(08|57P|E[A-Z]+$)/.test(causeCode);
    const what = isDown ? 'does not answer' : causeCode === '53100' ? 'has no room' : 'cannot do this now';
    return new Error(`PostgreSQL ${what}${reason}`, { cause });
  }
  const isFull = /^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(causeCode);
  return new Error(isFull ? `no room on the disk of ${file}` : `${file} cannot be written to now${reason}`, { cause });
};
