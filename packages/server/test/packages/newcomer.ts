/**
 * Creates a new OS user, with an empty home folder, no npm cache, no clone, and a folder with the tarballs. If root
 * runs the tests, the new user is `nobody`, who owns nothing else on the machine.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type RunningCommand, start } from '../fixtures/command.ts';
import { registryEnv } from '../tools/registry-env.ts';
import { findTarball, packageNames } from './tarballs.ts';

export interface Newcomer {
  /** The folder with the tarballs, and with the folders that commands create. */
  readonly folder: string;
  /** Starts a Bash command in `folder`. */
  start(command: string, env?: Readonly<Record<string, string>>): RunningCommand;
  /** Runs a command until it exits, and returns its output. If the command fails, throws an error with its output. */
  run(command: string, env?: Readonly<Record<string, string>>): Promise<string>;
  /** Makes the newcomer the owner of files that a test wrote in `folder`. */
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
  for (const name of packageNames) copyFileSync(findTarball(name), join(folder, basename(findTarball(name))));
  const takeOwnership = () => void (isRoot && execFileSync('chown', ['-R', 'nobody:nogroup', folder]));
  takeOwnership();

  const env = {
    ...registryEnv,
    HOME: home,
    TMPDIR: folder,
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    // Node's local headers, so that npm does not download them to compile SQLite.
    npm_config_nodedir: dirname(dirname(process.execPath)),
    npm_config_update_notifier: 'false',
    NEXT_TELEMETRY_DISABLED: '1',
    NO_COLOR: '1',
  };
  const commands: RunningCommand[] = [];
  const startCommand: Newcomer['start'] = (command, extraEnv = {}) => {
    // Runs the command under `timeout`, in its own process group, so that stopping it stops every process that it
    // started.
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
