/** The exit codes and messages of commands that fail. */
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

/** The message of an error for the user of a command; with the environment variable DEBUG, its stack. */
export const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (process.env.DEBUG) return error.stack ?? error.message;
  const { message, field } = error as Error & { field?: unknown };
  return typeof field === 'string' && !message.includes(field) ? `${field}: ${message}` : message;
};
