/** Reads an environment file. Its format is the part on which systemd (EnvironmentFile=) and POSIX shells agree. */
import { readFileSync } from 'node:fs';
import { BadConfiguration } from './config.ts';

/** A value without quotes, in double quotes, or in single quotes. systemd and shells differ about backslashes, `$` and backticks. */
const assignment = /^([A-Za-z_]\w*)=(?:([\w@%+=:,./-]*)|"([^"\\$`]*)"|'([^'\\]*)')[ \t]*$/;
const ignored = /^[ \t]*(?:#.*)?$/;

/**
 * Returns the variables of an environment file. Throws BadConfiguration for a line that systemd and a shell could read differently; the
 * message names the line and not its value, which may be secret.
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

/** The variables of the file at this path. Throws BadConfiguration when it can't be read; with `optional`, not when it is missing. */
export const readEnvironmentFile = (file: string, { optional = false } = {}): Record<string, string> => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if (optional && (cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new BadConfiguration(`--settings-file can't be read: ${(cause as Error).message}`, { cause });
  }
  return parseEnvironmentFile(text, file);
};

const read = (line: string, name: string): string | undefined => {
  try {
    return parseEnvironmentFile(line, name)[name];
  } catch {
    return undefined;
  }
};

const toLine = (name: string, value: string): string => {
  const line = ['', "'", '"']
    .map((quote) => `${name}=${quote}${value}${quote}`)
    .find((each) => !each.includes('\n') && read(each, name) === value);
  if (line !== undefined) return line;
  throw new BadConfiguration(
    `${name} has a backslash, a line break, or both kinds of quotes: an environment file can't hold it`,
  );
};

/** Returns the text of an environment file in which these variables are set; other lines stay as they are. */
export const setInEnvironmentFile = (text: string, variables: Readonly<Record<string, string>>): string => {
  let changed = text;
  for (const [name, value] of Object.entries(variables)) {
    const line = toLine(name, value);
    // The line that sets the variable, or else a commented example of it.
    const place = [`^${name}=.*$`, `^#${name}=.*$`]
      .map((pattern) => new RegExp(pattern, 'm'))
      .find((each) => each.test(changed));
    if (place) changed = changed.replace(place, () => line);
    else changed = `${changed.replace(/(?<=[^\n])$/, '\n')}${line}\n`;
  }
  return changed;
};
