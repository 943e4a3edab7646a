/**
 * Builds a Dockerfile without Docker. Each stage is a folder in which commands run with chroot and separate mounts.
 * They use this machine's programs (`/usr`) instead of the image's. Supports only the instructions in our Dockerfile,
 * each on one line.
 */
import { execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { registryEnv } from '../tools/registry-env.ts';

export interface Stage {
  readonly root: string;
  readonly env: Record<string, string>;
  workdir: string;
  /** The user, or `user:group`. */
  user: string;
  readonly volumes: string[];
  /** The JSON arrays of ENTRYPOINT, CMD and HEALTHCHECK. */
  readonly commands: Record<string, string[]>;
  stopSignal: string;
}

export interface RunOptions {
  /** The paths outside the stage to mount, by their path inside. With `isReadOnly`, only these paths are writable. */
  readonly volumes?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly isReadOnly?: boolean;
}

const mountedFolders = ['usr', 'etc', 'dev', 'proc'];
const links = ['bin', 'lib', 'lib64', 'sbin'].filter((name) => existsSync(`/${name}`));

/** Creates an empty root, with this machine's users and those of `node:22-slim`. */
const createStage = (root: string): Stage => {
  for (const folder of [...mountedFolders, 'tmp', 'root']) mkdirSync(join(root, folder), { recursive: true });
  for (const name of links) symlinkSync(readlinkSync(`/${name}`), join(root, name));
  mkdirSync(`${root}.etc`);
  for (const [file, line] of [
    ['passwd', 'node:x:1000:1000::/home/node:/bin/sh\n'],
    ['group', 'node:x:1000:\n'],
  ] as const) {
    const others = readFileSync(`/etc/${file}`, 'utf8')
      .split('\n')
      .filter((user) => !/^[^:]*:[^:]*:1000:|^node:/.test(user));
    appendFileSync(join(`${root}.etc`, file), others.join('\n') + line);
  }
  return { root, env: {}, workdir: '/', user: 'root', volumes: [], commands: {}, stopSignal: 'SIGTERM' };
};

/** Runs a command in a stage, with separate mounts. The command replaces the shell that mounts them. */
const spawnInStage = (
  { root, env, workdir, user }: Stage,
  args: readonly string[],
  runOptions: RunOptions,
  options: SpawnOptions,
) => {
  const { volumes = {}, isReadOnly = false } = runOptions;
  const script = [
    'set -e',
    'mount --make-rprivate /',
    `mount --bind '${root}' '${root}'`,
    ...mountedFolders.map((name) => `mount --rbind '/${name}' '${root}/${name}'`),
    ...['passwd', 'group'].map((file) => `mount --bind '${root}.etc/${file}' '${root}/etc/${file}'`),
    `mount -t tmpfs tmpfs '${root}/tmp'`,
    ...Object.entries(volumes).map(([inside, outside]) => `mount --bind '${outside}' '${root}${inside}'`),
    ...(isReadOnly ? [`mount -o remount,ro,bind '${root}'`] : []),
    `exec chroot '${root}' setpriv --reuid "$RUN_AS" --regid "$RUN_AS" --init-groups --no-new-privs sh -c 'cd "$0" && unset RUN_AS && exec "$@"' '${workdir}' "$@"`,
  ].join('\n');
  const path = `${dirname(process.execPath)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
  return spawn('unshare', ['--mount', 'bash', '-c', script, 'stage', ...args], {
    ...options,
    env: { ...registryEnv, PATH: path, HOME: '/root', ...env, ...runOptions.env, RUN_AS: user },
  });
};

/** Starts a command in a stage, like `docker run`. */
export const startInStage = (stage: Stage, args: readonly string[], runOptions: RunOptions = {}) => {
  const child = spawnInStage(stage, args, runOptions, { stdio: ['ignore', 'pipe', 'pipe'] });
  let written = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (written += chunk));
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  return { child, ended, written: () => written };
};

const runInStage = async (stage: Stage, command: string): Promise<void> => {
  const { ended, written } = startInStage(stage, ['sh', '-c', command]);
  if ((await ended) !== 0) throw new Error(`RUN ${command} failed:\n${written().slice(-4_000)}`);
};

/** Copies the context as Docker does: without the files that .dockerignore lists, and with modification times. */
const copyContext = (context: string, ignored: readonly string[], to: string): void => {
  const excluded = ignored.map(
    (pattern) => `--exclude=${pattern.startsWith('**/') ? pattern.slice(3) : `./${pattern}`}`,
  );
  const archive = execFileSync('tar', ['-C', context, ...excluded, '-cf', '-', '.'], { maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-C', to, '-xf', '-', '--no-same-owner'], { input: archive });
};

export interface BuildOptions {
  readonly context: string;
  readonly dockerfile: string;
  /** The folder for the stages, which must be empty. */
  readonly folder: string;
  /** Functions that run instead of certain commands. `done` is the stage so far. */
  readonly replacements: Readonly<Record<string, (current: Stage) => void | Promise<void>>>;
  /** Values that override those of ENV, because paths differ on this machine. */
  readonly env: Readonly<Record<string, string>>;
}

/** Builds a Dockerfile, and returns the last stage. If a command fails, throws an error with its output. */
export const build = async ({ context, dockerfile, folder, replacements, env }: BuildOptions): Promise<Stage> => {
  const lines = readFileSync(dockerfile, 'utf8').split('\n');
  const ignored = readFileSync(`${dockerfile}.dockerignore`, 'utf8').split('\n').filter(Boolean);
  const stages: Record<string, Stage> = {};
  let stage: Stage | undefined;
  const steps: Record<string, (rest: string, current: Stage) => void | Promise<void>> = {
    ENV: (rest, { env: variables }) => {
      const [, name = '', value = ''] = /^(\w+)=(\S*)$/.exec(rest) ?? [];
      variables[name] = env[name] ?? value;
    },
    WORKDIR: (rest, current) => {
      mkdirSync(join(current.root, rest), { recursive: true });
      current.workdir = rest;
    },
    COPY: (rest, { root, workdir }) => {
      const [, name, from = '', to = ''] = /^(?:--from=(\w+) )?(\S+) (\S+)$/.exec(rest) ?? [];
      const target = join(root, workdir, to);
      if (name === undefined) copyContext(join(context, from), ignored, target);
      else linkFolder(join(stages[name]?.root as string, from), target);
    },
    RUN: (rest, current) => (replacements[rest] ? replacements[rest](current) : runInStage(current, rest)),
    VOLUME: (rest, { volumes }) => void volumes.push(rest),
    USER: (rest, current) => {
      current.user = rest;
    },
    STOPSIGNAL: (rest, current) => {
      current.stopSignal = rest;
    },
    EXPOSE: () => {},
    HEALTHCHECK: (rest, { commands }) => {
      commands.HEALTHCHECK = JSON.parse(rest.slice(rest.indexOf('CMD ') + 4));
    },
    ENTRYPOINT: (rest, { commands }) => {
      commands.ENTRYPOINT = JSON.parse(rest);
    },
    CMD: (rest, { commands }) => {
      commands.CMD = JSON.parse(rest);
    },
  };
  for (const line of lines) {
    const [, instruction = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (instruction === 'FROM') {
      const name = / AS (\w+)$/.exec(rest)?.[1] ?? 'last';
      mkdirSync(join(folder, name));
      stage = createStage(join(folder, name));
      stages[name] = stage;
    } else if (instruction !== '') {
      const step = steps[instruction];
      if (!step || !stage) throw new Error(`unsupported instruction: ${line}`);
      await step(rest, stage);
    } else if (line !== '' && !line.startsWith('#')) throw new Error(`unsupported instruction: ${line}`);
  }
  return stage as Stage;
};

/** Copies a folder quickly, with hard links. The files must not be modified in place. */
const linkFolder = (from: string, to: string): void => {
  execFileSync('cp', ['-al', `${from}/.`, to]);
};

/**
 * Copies the installed packages instead of installing them. Hard links are safe, because npm replaces and removes
 * files; the only one that it edits in place is node_modules/.package-lock.json.
 */
export const copyInstalled = (context: string, { root, workdir }: Stage): void => {
  for (const folder of [
    '.',
    ...['server', 'tracker', 'docs', 'client', 'contract'].map((name) => `packages/${name}`),
  ]) {
    const source = join(context, folder, 'node_modules');
    const target = join(root, workdir, folder, 'node_modules');
    if (!existsSync(source)) continue;
    mkdirSync(target);
    try {
      linkFolder(source, target);
    } catch {
      // Copies if the folders are on different file systems, between which hard links are not possible.
      execFileSync('cp', ['-a', `${source}/.`, target]);
    }
    const list = join(target, '.package-lock.json');
    if (!existsSync(list)) continue;
    rmSync(list);
    copyFileSync(join(source, '.package-lock.json'), list);
  }
};
