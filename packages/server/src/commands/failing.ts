/** How a command ends that could not do what it was asked. */
import { CommanderError } from 'commander';

/** Asked for something that can't be, by flags or variables. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}

/** 0 after help that was asked for, 2 when the command was given wrongly, 1 when it failed. */
export const exitCodeOf = (error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return error instanceof Error && ['WrongUsage', 'BadConfiguration'].includes(error.name) ? 2 : 1;
};

const withField = ({ message, field }: { message: string; field?: unknown }) =>
  typeof field === 'string' && !message.includes(field) ? `${field}: ${message}` : message;

/** What went wrong, for whoever typed the command; where in the program, only to those who ask with DEBUG. */
export const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return process.env.DEBUG ? (error.stack ?? error.message) : withField(error);
};
