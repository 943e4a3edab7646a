/**
 * A new user of the machine: an empty home, no npm cache, no clone, and a folder with the tarballs. If the tests run as
 * root, it is the user `nobody`, who owns nothing else here.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type RunningCommand, start } from '../fixtures/command.ts';
import { registryEnv } from '../tools/registry-env.ts';
import { packageNames, tarballOf } from './tarballs.ts';

export interface Newcomer {
  /** Contains the tarballs, and the folders that the commands create. */
  readonly folder: string;
  /** Starts a Bash command in `folder`. */
  start(command: string, env?: Readonly<Record<string, string>>): RunningCommand;
  /** Runs a command to its end. Returns its output; throws an error with its output if it fails. */
  run(command: string, env?: Readonly<Record<string, string>>): Promise<string>;
  /** Gives the newcomer the files that a test wrote under `folder`. */
  takeOwnership(): void;
  /** Stops all commands, and removes the folder. */
  leave(): Promise<void>;
}

const isRoot = process.getuid?.() === 0;
const asNobody = isRoot ? ['setpriv', '--reuid', 'nobody', '--regid', 'nogroup', '--clear-groups'] : [];

export const createNewcomer = (): Newcomer => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-newcomer-'));
  const home = join(folder, 'home');
  mkdirSync(home);
  for (const name of packageNames) copyFileSync(tarballOf(name), join(folder, basename(tarballOf(name))));
  const takeOwnership = () => void (isRoot && execFileSync('chown', ['-R', 'nobody:nogroup', folder]));
  takeOwnership();

  const env = {
    ...registryEnv,
    HOME: home,
    TMPDIR: folder,
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    // Local headers of Node, so that npm does not download them to compile SQLite.
    npm_config_nodedir: dirname(dirname(process.execPath)),
    npm_config_update_notifier: 'false',
    NEXT_TELEMETRY_DISABLED: '1',
    NO_COLOR: '1',
  };
  const commands: RunningCommand[] = [];
  const startCommand: Newcomer['start'] = (command, extraEnv = {}) => {
    // timeout runs the command in its own process group, so stopping it stops everything it started.
    const [file = '', ...args] = [...asNobody, 'timeout', '600', 'bash', '-euo', 'pipefail', '-c', command];
    const running = start(file, args, { ...env, ...extraEnv }, folder);
    commands.push(running);
    return running;
  };

  return {
    folder,
    takeOwnership,
    start: startCommand,
    run: async (command, extraEnv) => {
      const { code, stdout, stderr } = await startCommand(command, extraEnv).ended;
      if (code !== 0) throw new Error(`${command}\nexited with ${code}: ${stdout}${stderr}`);
      return stdout;
    },
    leave: async () => {
      for (const { child, ended } of commands) {
        child.kill('SIGTERM');
        await ended;
      }
      rmSync(folder, { recursive: true });
    },
  };
};
