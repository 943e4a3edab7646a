/** Runs the `firsthand` command as a user does, in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished, vi } from 'vitest';

const bin = fileURLToPath(new URL('../bin/firsthand.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
}

type Env = Readonly<Record<string, string>>;

/** The variables of this process that a command could take for its own do not count. */
const cleanEnv = (env: Env): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  TMPDIR: process.env.TMPDIR,
  ...env,
});

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it has written to standard output and standard error so far. */
  written(): string;
  /** Resolves with what `pattern` finds in that. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
}

export const start = (file: string, args: readonly string[], env: Env, cwd?: string): Running => {
  const began = performance.now();
  const child = spawn(file, args, { env: cleanEnv(env), cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) =>
      resolve({ code, signal, stdout, stderr, milliseconds: performance.now() - began }),
    );
  });
  const says = async (pattern: RegExp) => {
    for (;;) {
      const found = pattern.exec(stdout + stderr);
      if (found) return found;
      if (child.exitCode !== null) throw new Error(`ended without saying ${pattern}:\n${stdout}${stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  return { child, ended, says, written: () => stdout + stderr };
};

let before: Promise<unknown> = Promise.resolve();

/**
 * The same in this process, one after the other: what runs in another is not counted as covered (`npm run
 * check:coverage`).
 */
const runHere = (args: readonly string[], env: Env): Promise<Ended> => {
  const run = async (): Promise<Ended> => {
    const began = performance.now();
    const { argv, env: ownEnv } = process;
    const written = { stdout: '', stderr: '' };
    const spies = (['stdout', 'stderr'] as const).map((name) =>
      vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
        written[name] += chunk;
        return true;
      }),
    );
    process.argv = [process.execPath, bin, ...args];
    process.env = cleanEnv(env);
    process.exitCode = undefined;
    try {
      vi.resetModules();
      await (await import('../src/main.ts')).ended;
      return { code: Number(process.exitCode ?? 0), signal: null, ...written, milliseconds: performance.now() - began };
    } finally {
      Object.assign(process, { argv, env: ownEnv, exitCode: undefined });
      for (const spy of spies) spy.mockRestore();
    }
  };
  const ended = before.then(run);
  before = ended.catch(() => {});
  return ended;
};

/** In a process of its own, counted or not: where it matters whose process it is. */
export const firsthandApart = (args: readonly string[], env: Env = {}): Promise<Ended> =>
  start(process.execPath, [bin, ...args], env).ended;

export const firsthand = (args: readonly string[], env: Env = {}): Promise<Ended> =>
  process.env.COVERAGE ? runHere(args, env) : firsthandApart(args, env);

/** What a command with `--json` printed, which must be one JSON value and nothing else. */
export const firsthandJSON = async (args: readonly string[], env: Env = {}) => {
  const { code, stdout, stderr } = await firsthand([...args, '--json'], env);
  if (code !== 0) throw new Error(`firsthand ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
};

/** A folder that goes with the test. */
export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** A database that goes with the test: `env` names it to a command. */
export const temporaryDatabase = () => {
  const path = join(temporaryFolder(), 'firsthand.db');
  return { path, env: { DATABASE_URL: `sqlite:${path}` } };
};

/** `firsthand serve` on a free port, stopped at the end of the test if it still runs. */
export const startServer = async (env: Env, ...args: string[]) => {
  const running = start(process.execPath, [bin, 'serve', '--port', '0', '--log-level', 'info', ...args], env);
  onTestFinished(async () => {
    running.child.kill('SIGKILL');
    await running.ended;
  });
  const [, url = ''] = await running.says(/"address":"([^"]+)"/);
  return { ...running, url };
};
