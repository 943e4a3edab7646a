/** Tests that ending a command from the README also ends every process that the command started. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { start as startCommand, temporaryDatabase, temporaryFolder } from '../fixtures/command.ts';
import { freePort } from '../tools/ports.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const startMilliseconds = 60_000;
const endMilliseconds = 60_000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-npm-'));
});
afterAll(() => rmSync(folder, { recursive: true, maxRetries: 5 }));

/**
 * Lists each process with its parent. In proc(5), the parent is the second field after the name, which ends at the last
 * parenthesis.
 */
const listProcesses = (): [pid: number, parent: number][] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return state === 'Z' ? [] : [[Number(name), Number(parent)] as [number, number]];
      } catch {
        return [];
      }
    });

const listDescendants = (pid: number): number[] => {
  const all = listProcesses();
  const below = (parent: number): number[] =>
    all.flatMap(([child, itsParent]) => (itsParent === parent ? [child, ...below(child)] : []));
  return below(pid);
};

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

const until = async (milliseconds: number, isMet: () => boolean | Promise<boolean>): Promise<boolean> => {
  const deadline = performance.now() + milliseconds;
  while (performance.now() < deadline) {
    if (await isMet()) return true;
    await wait(50);
  }
  return false;
};

const start = async (command: string, port: number): Promise<ChildProcess> => {
  const [program, ...args] = command.split(' ') as [string, ...string[]];
  const env = { ...process.env, PORT: String(port), DATABASE_URL: `sqlite:${join(folder, `${port}.db`)}` };
  const child = spawn(program, args, { cwd: root, env, stdio: 'ignore', detached: true });
  expect(await until(startMilliseconds, () => isListening(port))).toBe(true);
  return child;
};

/**
 * Covers both ways to end a command: Ctrl-C in a terminal signals the whole process group, and `kill` signals a single
 * process.
 */
test.each([
  ['node packages/server/bin/firsthand.js serve', 'SIGTERM', 'the process'],
  ['node packages/server/bin/firsthand.js serve', 'SIGINT', 'the process'],
  ['npx firsthand serve', 'SIGTERM', 'the process'],
  ['npx firsthand serve', 'SIGINT', 'the group'],
  ['npm start', 'SIGTERM', 'the process'],
  ['npm start', 'SIGINT', 'the process'],
  ['npm start', 'SIGINT', 'the group'],
  ['npm run dev', 'SIGTERM', 'the process'],
  ['npm run dev', 'SIGINT', 'the group'],
] as const)('leaves no listener and no process of `%s` after %s to %s', async (command, signal, target) => {
  const port = await freePort();
  const child = await start(command, port);
  const pid = child.pid as number;
  const started = [pid, ...listDescendants(pid)];
  const left = () => started.filter((one) => listProcesses().some(([other]) => other === one));
  process.kill(target === 'the group' ? -pid : pid, signal);
  await until(endMilliseconds, async () => left().length === 0 && !(await isListening(port)));
  const remaining = left();
  for (const one of remaining) process.kill(one, 'SIGKILL');
  expect([remaining.length, await isListening(port)]).toEqual([0, false]);
});

test('forwards SIGTERM from npm start to the server, and exits with the server’s exit code', async () => {
  const { env } = temporaryDatabase();
  // Runs the unchanged script in a folder without anything to build.
  const empty = temporaryFolder();
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  writeFileSync(join(empty, 'package.json'), JSON.stringify({ scripts: { build: 'true', start: scripts.start } }));
  for (const name of ['packages', 'node_modules']) symlinkSync(join(root, name), join(empty, name));
  const npm = startCommand('npm', ['start'], { ...env, PORT: '0', LOG_LEVEL: 'info' }, empty);
  onTestFinished(() => void npm.child.kill('SIGKILL'));
  const [, url = ''] = await npm.waitForOutput(/"address":"([^"]+)"/);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  npm.child.kill('SIGTERM');
  await npm.waitForOutput(/"msg":"stopped"/);
  expect((await npm.ended).code).toBe(0);
  await expect(fetch(`${url}/readyz`)).rejects.toThrow();
});
