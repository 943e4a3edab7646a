/**
 * Builds the Dockerfile without Docker, and runs the service as in a container: without root, on a read-only file
 * system.
 */
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@firsthand/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { temporaryFolder } from '../fixtures/command.ts';
import { createAccount, operatorToken } from '../fixtures/serving.ts';
import { freePort } from '../tools/ports.ts';
import { build, copyInstalled, type Stage, startInStage } from './dockerfile.ts';

const context = fileURLToPath(new URL('../../../../', import.meta.url));
const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));

const aptLine = 'apt-get update && apt-get install -y --no-install-recommends python3 make g++';

describe('the Dockerfile', () => {
  let stage: Stage;
  const ends: (() => void | Promise<void>)[] = [];
  beforeAll(async () => {
    const folder = temporaryFolder((end) => ends.push(end));
    stage = await build({
      context,
      dockerfile: join(deploy, 'Dockerfile'),
      folder,
      env: { npm_config_nodedir: dirname(dirname(process.execPath)) },
      replacements: {
        // Checks only that the packages exist, because a stage uses this machine's programs.
        [aptLine]: () =>
          void execFileSync('apt-get', ['install', '--simulate', 'python3', 'make', 'g++'], { stdio: 'ignore' }),
        // Skipped by default, because compiling SQLite twice takes minutes.
        ...(process.env.DEPLOY !== 'full' && { 'npm ci': (done) => copyInstalled(context, done) }),
      },
    });
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  const runInside = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const { ended, written } = startInStage(stage, args, { env, isReadOnly: true });
    return { code: await ended, written: written() };
  };

  it('omits packages that only tests and builds need', () => {
    const isInstalled = (name: string) => existsSync(join(stage.root, 'opt/firsthand/node_modules', name));
    expect(['better-sqlite3', 'pg', 'pg-copy-streams'].map(isInstalled)).toEqual([true, true, true]);
    expect(['vitest', 'typescript', '@biomejs/biome', 'playwright-core'].map(isInstalled)).toEqual(
      Array(4).fill(false),
    );
    expect(readdirSync(join(stage.root, 'opt/firsthand'))).toEqual(['node_modules']);
  });

  it('runs on a read-only file system', async () => {
    const { code, written } = await runInside(['sh', '-c', 'id -u; touch /opt/firsthand/x /data/x']);
    expect(code).not.toBe(0);
    expect(written).toMatch(/^1000\n.*Read-only file system/);
  });

  it('serves without root, reports readiness, stores its data in the volume, and stops at its signal', async () => {
    expect([stage.user, stage.volumes, stage.stopSignal]).toEqual(['node', ['/data'], 'SIGTERM']);
    const data = join(temporaryFolder(), 'data');
    mkdirSync(data);
    // Gives the new volume the same owner as the folder in the image.
    const { uid, gid } = statSync(join(stage.root, 'data'));
    expect(uid).toBe(1000);
    chownSync(data, uid, gid);
    const port = String(await freePort());
    const env = { PORT: port, BASE_PATH: '/s/', OPERATOR_TOKEN: operatorToken };
    const { ENTRYPOINT = [], CMD = [], HEALTHCHECK = [] } = stage.commands;
    const start = () => {
      const running = startInStage(stage, [...ENTRYPOINT, ...CMD], {
        env,
        isReadOnly: true,
        volumes: { '/data': data },
      });
      onTestFinished(() => void running.child.kill('SIGKILL'));
      return running;
    };
    const url = `http://127.0.0.1:${port}/s`;
    const isReady = () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );

    expect((await runInside(HEALTHCHECK, env)).code).toBe(1);
    const first = start();
    await expect.poll(isReady).toBe(true);
    expect((await runInside(HEALTHCHECK, env)).code).toBe(0);
    expect(readFileSync(`/proc/${first.child.pid}/status`, 'utf8')).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
    expect(await fetch(`${url}/main.js`).then(({ status }) => status)).toBe(200);
    const { serverTokenUUID } = await createAccount(url);
    const api = createClient({ url, token: serverTokenUUID });
    await api.logEvent({ eventID: 1, userUUID: 'a-visitor-of-a-container' });
    first.child.kill(stage.stopSignal as NodeJS.Signals);
    expect([await first.ended, first.written()]).toEqual([0, expect.stringContaining('"msg":"stopped"')]);

    for (const name of readdirSync(data))
      expect([name, statSync(join(data, name)).mode & 0o777]).toEqual([name, 0o600]);
    const second = start();
    await expect.poll(isReady).toBe(true);
    expect((await api.getEvent({})).event).toHaveLength(1);
    second.child.kill(stage.stopSignal as NodeJS.Signals);
    expect(await second.ended).toBe(0);
  });
});

describe('the compose files', () => {
  it.each(['compose.yaml', 'compose.postgres.yaml'])('set existing settings to valid values in %s', (name) => {
    const text = readFileSync(join(deploy, name), 'utf8');
    const [, block = ''] = /\n {2}firsthand:\n[\s\S]*? {4}environment:\n((?: {6}.*\n)+)/.exec(text) ?? [];
    const env = Object.fromEntries(
      [...block.matchAll(/^ {6}([A-Z_]+): (.+)$/gm)].map(([, key, value]) => [key, value]),
    );
    expect(Object.keys(env).length).toBeGreaterThan(1);
    expect(readConfig(env)).toMatchObject(
      name === 'compose.yaml'
        ? { basePath: '/s/', trustProxy: ['172.30.93.1'] }
        : { databaseURL: 'postgres://firsthand@postgres/firsthand', reportsDir: '/data/reports' },
    );
  });
});
