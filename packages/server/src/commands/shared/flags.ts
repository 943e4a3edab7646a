/** Flags shared by several commands, and the settings that these flags set. */
import { type Command, Option } from 'commander';
import {
  type Config,
  type Flags,
  readSettings,
  type Setting,
  type SettingName,
  settings,
} from '../../config/config.ts';

/** Adds the flags of these settings to a command. */
export const addSettings = (command: Command, names: readonly SettingName[]): Command => {
  for (const name of names) {
    const { flag, means, variable, fallback }: Setting = settings[name];
    command.addOption(new Option(flag, `${means} (${variable}${fallback === undefined ? '' : `, ${fallback}`})`));
  }
  return command;
};

const toAttribute = (name: SettingName): string => new Option(settings[name].flag).attributeName();

/** The values of a command's flags, by setting name. */
export const toFlags = (names: readonly SettingName[], options: Readonly<Record<string, unknown>>): Flags =>
  Object.fromEntries(names.map((name) => [name, options[toAttribute(name)] as string | undefined]));

/** Reads settings from a command's flags and the environment. Throws BadConfiguration. */
export const toSettings = <Name extends SettingName>(
  names: readonly Name[],
  options: Readonly<Record<string, unknown>>,
): Pick<Config, Name> => readSettings(names, process.env, toFlags(names, options));

export const jsonFlag = ['--json', 'print only one JSON value on standard output'] as const;

/** Collects the values of a repeatable flag. */
export const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];
