/** Flags that several commands have, and what they stand for. */
import { type Command, Option } from 'commander';
import { type Config, readSettings, type SettingName, settings } from '../config.ts';

/** Gives a command the flags of these settings. */
export const addSettings = (command: Command, names: readonly SettingName[]): Command => {
  for (const name of names) {
    const { flag, means, variable, fallback }: { flag: string; means: string; variable: string; fallback?: string } =
      settings[name];
    command.addOption(new Option(flag, `${means} (${variable}${fallback === undefined ? '' : `, ${fallback}`})`));
  }
  return command;
};

const attributeOf = (name: SettingName): string => new Option(settings[name].flag).attributeName();

/** The settings of a command that was given these flags; throws BadConfiguration. */
export const settingsOf = <Name extends SettingName>(
  names: readonly Name[],
  options: Readonly<Record<string, unknown>>,
): Pick<Config, Name> =>
  readSettings(
    names,
    process.env,
    Object.fromEntries(names.map((name) => [name, options[attributeOf(name)] as string | undefined])),
  );

export const jsonFlag = ['--json', 'print one JSON value, and nothing else on standard output'] as const;

/** For a flag that may stand several times. */
export const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];
