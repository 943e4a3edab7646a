/**
 * A user of the machine who has nothing yet: an empty home, no cache of npm, no clone, and a folder with the tarballs. Where the tests
 * run as root it is the user `nobody`, to whom nothing else here belongs.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type Running, start } from '../fixtures/command.ts';
import { registryEnv } from '../tools/registry-env.ts';
import { packageNames, tarballOf } from './packed.ts';

export interface Newcomer {
  /** It holds the tarballs, and the folders that the commands make. */
  readonly folder: string;
  /** Starts a command of Bash in `folder`. */
  start(command: string, env?: Readonly<Record<string, string>>): Running;
  /** Runs one to its end. Returns what it printed; throws with what it complained about if it fails. */
  run(command: string, env?: Readonly<Record<string, string>>): Promise<string>;
  /** Gives the newcomer what a test has written below `folder`. */
  own(): void;
  /** Ends what was started, and removes the folder. */
  leave(): Promise<void>;
}

const isRoot = process.getuid?.() === 0;
const asNobody = isRoot ? ['setpriv', '--reuid', 'nobody', '--regid', 'nogroup', '--clear-groups'] : [];

export const createNewcomer = (): Newcomer => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-newcomer-'));
  const home = join(folder, 'home');
  mkdirSync(home);
  for (const name of packageNames) copyFileSync(tarballOf(name), join(folder, basename(tarballOf(name))));
  const own = () => void (isRoot && execFileSync('chown', ['-R', 'nobody:nogroup', folder]));
  own();

  const env = {
    ...registryEnv,
    HOME: home,
    TMPDIR: folder,
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    // Node's headers, which npm would download to compile SQLite.
    npm_config_nodedir: dirname(dirname(process.execPath)),
    npm_config_update_notifier: 'false',
    NEXT_TELEMETRY_DISABLED: '1',
    NO_COLOR: '1',
  };
  const all: Running[] = [];
  const startHere: Newcomer['start'] = (command, more = {}) => {
    // It ends with what it has started, which is a group of processes.
    const [file = '', ...args] = [...asNobody, 'timeout', '600', 'bash', '-euo', 'pipefail', '-c', command];
    const running = start(file, args, { ...env, ...more }, folder);
    all.push(running);
    return running;
  };

  return {
    folder,
    own,
    start: startHere,
    run: async (command, more) => {
      const { code, stdout, stderr } = await startHere(command, more).ended;
      if (code !== 0) throw new Error(`${command}\nended with ${code}: ${stdout}${stderr}`);
      return stdout;
    },
    leave: async () => {
      for (const { child, ended } of all) {
        child.kill('SIGTERM');
        await ended;
      }
      rmSync(folder, { recursive: true });
    },
  };
};
