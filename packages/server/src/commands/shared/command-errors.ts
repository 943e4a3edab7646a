/** The exit codes and messages of failed commands. */
import { userInfo } from 'node:os';
import { CommanderError } from 'commander';

/** A command's flags or variables are invalid. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** 0 after requested help, 2 for invalid flags or variables, 1 for other failures. */
export const toExitCode = (error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return error instanceof Error && ['UsageError', 'BadConfiguration'].includes(error.name) ? 2 : 1;
};

type ErrorWithCause = Error & { readonly code?: unknown; readonly cause?: unknown };

/** Whether the error, or one of its causes, is due to a missing permission. */
const isForbidden = (error: unknown): boolean =>
  error instanceof Error &&
  (['EACCES', 'EPERM'].includes(String((error as ErrorWithCause).code)) ||
    isForbidden((error as ErrorWithCause).cause));

const readUserName = (): string => {
  try {
    return userInfo().username;
  } catch {
    // A container can run as a user without a name.
    return String(process.getuid?.());
  }
};

/** The message to print for an error; its stack if the environment variable DEBUG is set. */
export const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (process.env.DEBUG) return error.stack ?? error.message;
  const { message, field } = error as Error & { field?: unknown };
  const text = typeof field === 'string' && !message.includes(field) ? `${field}: ${message}` : message;
  return isForbidden(error) ? `${text} (this command runs as user ${readUserName()})` : text;
};

/**
 * Adds the cause to an `unavailable` refusal from the store. A server hides the cause from clients; a command's user
 * needs it.
 */
export const withCause = (error: unknown, databaseURL: string): unknown => {
  const { name, code, cause } = error as ErrorWithCause;
  if (name !== 'Refusal' || code !== 'unavailable') return error;
  const file = /^sqlite:(.+)$/.exec(databaseURL)?.[1];
  const reason = cause instanceof Error ? `: ${cause.message || String((cause as ErrorWithCause).code)}` : '';
  const causeCode = String((cause as ErrorWithCause | undefined)?.code ?? '');
  if (file === undefined) {
    const isDown = /^(08|57P|E[A-Z]+$)/.test(causeCode);
    const problem = isDown ? 'does not respond' : causeCode === '53100' ? 'has no disk space' : 'cannot do this now';
    return new Error(`PostgreSQL ${problem}${reason}`, { cause });
  }
  const isFull = /^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(causeCode);
  return new Error(isFull ? `the disk of ${file} is full` : `cannot write to ${file} now${reason}`, { cause });
};
