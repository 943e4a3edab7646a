/**
 * Writes a release's data file and that release's responses about it, for releases.test.ts:
 *
 *   node --import tsx packages/server/test/releases/make.ts <folder of the built checkout> <version>
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Call, createCall, type Release } from './release.ts';
import { fill, listQuestions } from './scene.ts';

const [checkout = '', version = ''] = process.argv.slice(2);
const firsthand = join(checkout, 'packages/server/bin/firsthand.js');
if (!existsSync(firsthand) || version === '')
  throw new Error('usage: make.ts <folder of the built checkout> <version>');

const folder = mkdtempSync(join(tmpdir(), 'firsthand-release-'));
const file = join(folder, 'firsthand.db');
const env = { ...process.env, DATABASE_URL: `sqlite:${file}`, PORT: '43117', LOG_LEVEL: 'error' };

const waitUntilReady = async (url: string) => {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const ready = await fetch(`${url}/readyz`).catch(() => undefined);
    if (ready?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the server did not become ready within 10 seconds');
};

const withServer = async <Result>(use: (url: string) => Promise<Result>): Promise<Result> => {
  const server = spawn(process.execPath, [firsthand, 'serve'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(server, 'exit');
  try {
    const url = `http://127.0.0.1:${env.PORT}`;
    await waitUntilReady(url);
    return await use(url);
  } finally {
    server.kill('SIGTERM');
    await exited;
  }
};

const create = ['account', 'create', '--name', 'Shop', '--json'];
const account = JSON.parse(execFileSync(process.execPath, [firsthand, ...create], { env, encoding: 'utf8' }));
const tokens = { server: account.serverTokenUUID, browser: account.browserTokenUUID };
const contacts = await withServer((url) => fill(createCall(url, tokens.server), createCall(url, tokens.browser)));
// Reads after a restart, so that the responses come from the file.
const answers = await withServer(async (url) => {
  const call: Call = createCall(url, tokens.server);
  const responses: Release['answers'] = [];
  for (const question of listQuestions(contacts)) responses.push({ question, answer: await call(question) });
  return responses;
});

const outputURL = (name: string) => new URL(`${version}${name}`, import.meta.url);
writeFileSync(outputURL('.db.gz'), gzipSync(readFileSync(file), { level: 9 }));
if (existsSync(`${file}-erased`)) writeFileSync(outputURL('.db-erased'), readFileSync(`${file}-erased`));
const release: Release = { serverToken: tokens.server, answers };
writeFileSync(outputURL('.json.gz'), gzipSync(JSON.stringify(release), { level: 9 }));
rmSync(folder, { recursive: true });
