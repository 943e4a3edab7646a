/**
 * Reads and edits environment files, in the subset of the format that systemd (EnvironmentFile=) and POSIX shells
 * share.
 */
import { readFileSync } from 'node:fs';
import { BadConfiguration } from './config.ts';

/**
 * Matches an unquoted, double-quoted or single-quoted value. systemd and shells treat backslashes, `$` and backticks
 * differently.
 */
const assignment = /^([A-Za-z_]\w*)=(?:([\w@%+=:,./-]*)|"([^"\\$`]*)"|'([^'\\]*)')[ \t]*$/;
const ignored = /^[ \t]*(?:#.*)?$/;

/**
 * Returns the variables in an environment file. Throws BadConfiguration for a line that systemd and a shell could read
 * differently; the message has the line's number but not its value, which might be secret.
 */
export const parseEnvironmentFile = (text: string, file: string): Record<string, string> => {
  const variables: Record<string, string> = {};
  for (const [index, line] of text.split('\n').entries()) {
    if (ignored.test(line)) continue;
    const [, name, bare, double, single] = assignment.exec(line) ?? [];
    if (name === undefined) {
      throw new BadConfiguration(
        `line ${index + 1} of ${file} is not NAME=value: write no space around the equals sign, no "export", and a value with special ` +
          "characters in single quotes, such as NAME='a b'",
      );
    }
    variables[name] = bare ?? double ?? single ?? '';
  }
  return variables;
};

/**
 * Reads the variables in a file. Throws BadConfiguration if it can't be read, except if it is missing and `optional`.
 */
export const readEnvironmentFile = (file: string, { optional = false } = {}): Record<string, string> => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if (optional && (cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new BadConfiguration(`--settings-file cannot be read: ${(cause as Error).message}`, { cause });
  }
  return parseEnvironmentFile(text, file);
};

const readValue = (line: string, name: string): string | undefined => {
  try {
    return parseEnvironmentFile(line, name)[name];
  } catch {
    return undefined;
  }
};

const toLine = (name: string, value: string): string => {
  const line = ['', "'", '"']
    .map((quote) => `${name}=${quote}${value}${quote}`)
    .find((each) => !each.includes('\n') && readValue(each, name) === value);
  if (line !== undefined) return line;
  throw new BadConfiguration(
    `${name} contains a backslash, a line break, or both kinds of quotes, which an environment file can't hold`,
  );
};

/** Returns the text of an environment file with these variables set and all other lines unchanged. */
export const setInEnvironmentFile = (text: string, variables: Readonly<Record<string, string>>): string => {
  let changed = text;
  for (const [name, value] of Object.entries(variables)) {
    const line = toLine(name, value);
    // Prefer the line that sets the variable, then a commented-out example.
    const pattern = [`^${name}=.*$`, `^#${name}=.*$`]
      .map((source) => new RegExp(source, 'm'))
      .find((each) => each.test(changed));
    if (pattern) changed = changed.replace(pattern, () => line);
    else changed = `${changed.replace(/(?<=[^\n])$/, '\n')}${line}\n`;
  }
  return changed;
};
