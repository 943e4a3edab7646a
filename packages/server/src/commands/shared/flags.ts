/** Flags that several commands share, and the settings made from them. */
import { type Command, Option } from 'commander';
import {
  type Config,
  type Flags,
  readSettings,
  type Setting,
  type SettingName,
  settings,
} from '../../config/config.ts';

/** Gives a command the flags of these settings. */
export const addSettings = (command: Command, names: readonly SettingName[]): Command => {
  for (const name of names) {
    const { flag, means, variable, fallback }: Setting = settings[name];
    command.addOption(new Option(flag, `${means} (${variable}${fallback === undefined ? '' : `, ${fallback}`})`));
  }
  return command;
};

const attributeOf = (name: SettingName): string => new Option(settings[name].flag).attributeName();

/** The values of a command's flags, by the name of the setting. */
export const flagsOf = (names: readonly SettingName[], options: Readonly<Record<string, unknown>>): Flags =>
  Object.fromEntries(names.map((name) => [name, options[attributeOf(name)] as string | undefined]));

/** The settings from a command's flags and the environment. Throws BadConfiguration. */
export const settingsOf = <Name extends SettingName>(
  names: readonly Name[],
  options: Readonly<Record<string, unknown>>,
): Pick<Config, Name> => readSettings(names, process.env, flagsOf(names, options));

export const jsonFlag = ['--json', 'print one JSON value, and nothing else on standard output'] as const;

/** Collects the values of a flag that may be repeated. */
export const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];
