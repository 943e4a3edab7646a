/**
 * Carries out a Dockerfile without Docker: each stage is a folder, and its commands run in it with chroot and mounts of their own. The
 * programs are this machine's (`/usr`), not those of the image. Understands the instructions that ours has, each on one line.
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
  /** As `user`, or `user:group`. */
  user: string;
  readonly volumes: string[];
  /** The forms of JSON, by their instruction: ENTRYPOINT, CMD, HEALTHCHECK. */
  readonly commands: Record<string, string[]>;
  stopSignal: string;
}

export interface Running {
  /** Paths outside that are mounted in the stage, by their path in it. Only these can be written. */
  readonly volumes?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly isReadOnly?: boolean;
}

const shared = ['usr', 'etc', 'dev', 'proc'];
const links = ['bin', 'lib', 'lib64', 'sbin'].filter((name) => existsSync(`/${name}`));

/** An empty root, with the users of `node:22-slim` beside those of this machine. */
const newStage = (root: string): Stage => {
  for (const folder of [...shared, 'tmp', 'root']) mkdirSync(join(root, folder), { recursive: true });
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

/** A command in a stage, in mounts of its own; the process is that of the command. */
const inStage = (
  { root, env, workdir, user }: Stage,
  args: readonly string[],
  running: Running,
  options: SpawnOptions,
) => {
  const { volumes = {}, isReadOnly = false } = running;
  const script = [
    'set -e',
    'mount --make-rprivate /',
    `mount --bind '${root}' '${root}'`,
    ...shared.map((name) => `mount --rbind '/${name}' '${root}/${name}'`),
    ...['passwd', 'group'].map((file) => `mount --bind '${root}.etc/${file}' '${root}/etc/${file}'`),
    `mount -t tmpfs tmpfs '${root}/tmp'`,
    ...Object.entries(volumes).map(([inside, outside]) => `mount --bind '${outside}' '${root}${inside}'`),
    ...(isReadOnly ? [`mount -o remount,ro,bind '${root}'`] : []),
    `exec chroot '${root}' setpriv --reuid "$RUN_AS" --regid "$RUN_AS" --init-groups --no-new-privs sh -c 'cd "$0" && unset RUN_AS && exec "$@"' '${workdir}' "$@"`,
  ].join('\n');
  const path = `${dirname(process.execPath)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
  return spawn('unshare', ['--mount', 'bash', '-c', script, 'stage', ...args], {
    ...options,
    env: { ...registryEnv, PATH: path, HOME: '/root', ...env, ...running.env, RUN_AS: user },
  });
};

/** Starts a command in a stage, as `docker run` does. */
export const startInStage = (stage: Stage, args: readonly string[], running: Running = {}) => {
  const child = inStage(stage, args, running, { stdio: ['ignore', 'pipe', 'pipe'] });
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

/** Copies the context as Docker does: without what .dockerignore lists, and with the times of the files. */
const copyContext = (context: string, ignored: readonly string[], to: string): void => {
  const excluded = ignored.map(
    (pattern) => `--exclude=${pattern.startsWith('**/') ? pattern.slice(3) : `./${pattern}`}`,
  );
  const archive = execFileSync('tar', ['-C', context, ...excluded, '-cf', '-', '.'], { maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-C', to, '-xf', '-', '--no-same-owner'], { input: archive });
};

export interface Building {
  readonly context: string;
  readonly dockerfile: string;
  /** An empty folder. */
  readonly folder: string;
  /** Commands that are carried out in another way. `done` is the stage so far. */
  readonly instead: Readonly<Record<string, (done: Stage) => void | Promise<void>>>;
  /** Changes values of ENV, for what is elsewhere on this machine. */
  readonly env: Readonly<Record<string, string>>;
}

/** Carries out a Dockerfile. Returns its last stage. Throws with the output of a command that fails. */
export const build = async ({ context, dockerfile, folder, instead, env }: Building): Promise<Stage> => {
  const lines = readFileSync(dockerfile, 'utf8').split('\n');
  const ignored = readFileSync(`${dockerfile}.dockerignore`, 'utf8').split('\n').filter(Boolean);
  const stages: Record<string, Stage> = {};
  let stage: Stage | undefined;
  const steps: Record<string, (rest: string, done: Stage) => void | Promise<void>> = {
    ENV: (rest, { env: variables }) => {
      const [, name = '', value = ''] = /^(\w+)=(\S*)$/.exec(rest) ?? [];
      variables[name] = env[name] ?? value;
    },
    WORKDIR: (rest, done) => {
      mkdirSync(join(done.root, rest), { recursive: true });
      done.workdir = rest;
    },
    COPY: (rest, { root, workdir }) => {
      const [, name, from = '', to = ''] = /^(?:--from=(\w+) )?(\S+) (\S+)$/.exec(rest) ?? [];
      const target = join(root, workdir, to);
      if (name === undefined) copyContext(join(context, from), ignored, target);
      else linkFolder(join(stages[name]?.root as string, from), target);
    },
    RUN: (rest, done) => (instead[rest] ? instead[rest](done) : runInStage(done, rest)),
    VOLUME: (rest, { volumes }) => void volumes.push(rest),
    USER: (rest, done) => {
      done.user = rest;
    },
    STOPSIGNAL: (rest, done) => {
      done.stopSignal = rest;
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
      stage = newStage(join(folder, name));
      stages[name] = stage;
    } else if (instruction !== '') {
      const step = steps[instruction];
      if (!step || !stage) throw new Error(`the test can't carry out: ${line}`);
      await step(rest, stage);
    } else if (line !== '' && !line.startsWith('#')) throw new Error(`the test can't carry out: ${line}`);
  }
  return stage as Stage;
};

/** Copies a folder by links to its files, which is quick. They must not be changed in place afterwards. */
const linkFolder = (from: string, to: string): void => {
  execFileSync('cp', ['-al', `${from}/.`, to]);
};

/** Takes what npm has installed here, instead of installing it. npm replaces and removes files, and changes only its list in place. */
export const takeInstalled = (context: string, { root, workdir }: Stage): void => {
  for (const folder of [
    '.',
    ...['server', 'tracker', 'docs', 'client', 'contract'].map((name) => `packages/${name}`),
  ]) {
    const installed = join(context, folder, 'node_modules');
    const target = join(root, workdir, folder, 'node_modules');
    if (!existsSync(installed)) continue;
    mkdirSync(target);
    try {
      linkFolder(installed, target);
    } catch {
      // The folders are on different file systems.
      execFileSync('cp', ['-a', `${installed}/.`, target]);
    }
    const list = join(target, '.package-lock.json');
    if (!existsSync(list)) continue;
    rmSync(list);
    copyFileSync(join(installed, '.package-lock.json'), list);
  }
};
